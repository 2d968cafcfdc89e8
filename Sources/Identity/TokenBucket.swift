/// How often something may happen: so many times at once, and then once in a while.
package struct TokenBucket: Sendable {
    private let burst: Double
    private let interval: Duration
    private var level: Double
    private var time: ContinuousClock.Instant

    /// - Parameters:
    ///   - burst: how many times at once, at least 1.
    ///   - interval: after which one more may happen.
    package init(burst: Int, per interval: Duration, at time: ContinuousClock.Instant) {
        self.burst = Double(max(burst, 1))
        self.interval = interval
        self.time = time
        level = self.burst
    }

    /// Takes one, if there is one to take.
    package mutating func take(at now: ContinuousClock.Instant) -> Bool {
        if now > time {
            level = min(burst, level + time.duration(to: now) / interval)
            time = now
        }
        guard level >= 1 else { return false }
        level -= 1
        return true
    }

    /// Until the next may be taken; zero when one may be now.
    package var wait: Duration { level >= 1 ? .zero : interval * (1 - level) }
}
