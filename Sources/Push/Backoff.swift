/// How long to wait before the next attempt.
///
/// With the defaults, 1 s and a cap of 300 s:
///
/// | attempts so far | nominal | drawn from |
/// |---|---|---|
/// | 1 | 1 s | 0.5 s … 1 s |
/// | 2 | 2 s | 1 s … 2 s |
/// | 3 | 4 s | 2 s … 4 s |
/// | 8 | 128 s | 64 s … 128 s |
/// | 9 | 256 s | 128 s … 256 s |
/// | 10 and more | 300 s | 150 s … 300 s |
///
/// The upper half of the nominal delay is drawn at random, so that what failed together does not come back together.
public struct Backoff: Sendable, Hashable {
    public var base: Duration
    public var cap: Duration

    public init(base: Duration = .seconds(1), cap: Duration = .seconds(300)) {
        self.base = base
        self.cap = cap
    }

    /// Milliseconds to wait after `attempts` (at least 1) attempts; `draw` lies in 0..<1.
    func delay(attempts: Int, draw: Double = .random(in: 0..<1)) -> Int64 {
        let limit = cap.wholeMilliseconds
        let doublings = min(max(attempts, 1) - 1, 32)
        let (product, overflow) = base.wholeMilliseconds.multipliedReportingOverflow(by: 1 << doublings)
        let nominal = overflow ? limit : min(product, limit)
        return nominal / 2 + Int64((Double(nominal - nominal / 2) * draw).rounded())
    }
}

extension Duration {
    /// Rounded down; not for durations beyond some hundred million years.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
