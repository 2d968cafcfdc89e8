import Glibc

/// Measured seconds of several runs.
struct Figures {
    private(set) var seconds: [Double] = []

    mutating func add(_ value: Double) { seconds.append(value) }

    var median: Double {
        let sorted = seconds.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    func rate(_ count: Int) -> Double { Double(count) / median }
}

/// Wall-clock seconds that `body` takes.
func measured(_ body: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try await body()
    return (clock.now - start) / .seconds(1)
}

/// The most memory that this process has held, in MB.
func peakMemoryMB() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Int(usage.ru_maxrss) / 1024
}

/// A number with thousands separated.
func grouped(_ value: Double) -> String {
    let digits = Array(String(Int(value.rounded())))
    var text = ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return text
}

func rounded(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
}

/// Writes a line at once, so that a pipe shows it too.
func say(_ line: String, to descriptor: Int32 = 1) {
    let bytes = Array((line + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
}
