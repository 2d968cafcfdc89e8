import Glibc
import Net

/// Time, as delivery sees it. Tests have one of their own.
protocol PushClock: Sendable {
    /// Milliseconds since 1970.
    var now: Int64 { get }
    /// Runs `job` on `loop` after `milliseconds`.
    func schedule(on loop: EventLoop, after milliseconds: Int64, _ job: @escaping @Sendable () -> Void)
}

/// The system's wall clock, and the loop's own timers.
struct SystemClock: PushClock {
    var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    func schedule(on loop: EventLoop, after milliseconds: Int64, _ job: @escaping @Sendable () -> Void) {
        loop.schedule(after: .milliseconds(milliseconds), job)
    }
}
