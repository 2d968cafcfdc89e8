import Net
import Synchronization

@testable import Push

/// Time that passes only when it is asked to, or at once where nobody wants to wait.
final class TestClock: PushClock {
    private struct Timer: Sendable {
        var time: Int64
        var loop: EventLoop
        var job: @Sendable () -> Void
    }

    private struct State {
        var now: Int64
        var patience: Int64
        var timers: [Timer] = []
        var isEnded = false
        var delays: [Int64] = []
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - start: where time begins, in milliseconds since 1970; a simulator wants it to be now.
    ///   - patience: timers of at most so many milliseconds fire at once, and time jumps to theirs.
    init(start: Int64 = 1_800_000_000_000, patience: Int64 = 20_000) {
        state = Mutex(State(now: start, patience: patience))
    }

    var now: Int64 { state.withLock { $0.now } }

    /// The delays that were asked for so far.
    var delays: [Int64] { state.withLock { $0.delays } }

    func schedule(on loop: EventLoop, after milliseconds: Int64, _ job: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.delays.append(milliseconds)
            let time = state.now + milliseconds
            if state.isEnded { return false }
            guard milliseconds <= state.patience else {
                state.timers.append(Timer(time: time, loop: loop, job: job))
                return false
            }
            state.now = max(state.now, time)
            return true
        }
        if isDue { loop.execute(job) }
    }

    /// Lets go of what waits for its time, and takes no more.
    func end() {
        let timers = state.withLock { state in
            defer { (state.timers, state.isEnded) = ([], true) }
            return state.timers
        }
        _ = consume timers
    }

    func advance(by milliseconds: Int64) {
        let due = state.withLock { state in
            state.now += milliseconds
            let now = state.now
            let due = state.timers.filter { $0.time <= now }.sorted { $0.time < $1.time }
            state.timers.removeAll { $0.time <= now }
            return due
        }
        for timer in due { timer.loop.execute(timer.job) }
    }
}
