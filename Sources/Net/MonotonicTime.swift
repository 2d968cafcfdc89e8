import Glibc

/// Nanoseconds of the system's monotonic clock; cheaper to read and to compare than `ContinuousClock.Instant`.
struct MonotonicTime: Comparable, Hashable, Sendable {
    var nanoseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Later by so many nanoseconds; the far future when that is beyond the range.
    static func + (time: MonotonicTime, nanoseconds: Int64) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(nanoseconds)
        return MonotonicTime(nanoseconds: overflow ? .max : sum)
    }

    static func - (left: MonotonicTime, right: MonotonicTime) -> Int64 { left.nanoseconds &- right.nanoseconds }
}

extension Duration {
    /// Whole nanoseconds, not below zero, and at most some 146 years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        if seconds < 0 || attoseconds < 0 { return 0 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max / 2 : min(whole, .max / 2) + attoseconds / 1_000_000_000
    }
}
