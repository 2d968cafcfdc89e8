import Synchronization

/// Ends the hooks that outlive the time limit, with one sleeping task for all of them.
///
/// A task that sleeps beside each hook would cost memory until its time is up, cancelled or not: the runtime keeps a
/// timer that long.
final class HookDeadlines: Sendable {
    private struct State {
        /// Hooks that run, with the time at which they have run too long.
        var running: [UInt64: (deadline: ContinuousClock.Instant, ending: Completion<Void>)] = [:]
        var next: UInt64 = 0
        var isWatching = false
    }

    let limit: Duration
    private let state = Mutex(State())

    init(limit: Duration) { self.limit = limit }

    /// How many hooks are being watched.
    var count: Int { state.withLock { $0.running.count } }

    /// Fails `ending` when it is not forgotten within the limit. Returns what to forget it by.
    func watch(_ ending: Completion<Void>) -> UInt64 {
        let deadline = ContinuousClock.now + limit
        let (id, isFirst) = state.withLock { state in
            let id = state.next
            state.next += 1
            state.running[id] = (deadline, ending)
            defer { state.isWatching = true }
            return (id, !state.isWatching)
        }
        if isFirst { Task { await sleepAndExpire() } }
        return id
    }

    func forget(_ id: UInt64) {
        state.withLock { _ = $0.running.removeValue(forKey: id) }
    }

    /// Sleeps until the earliest deadline, again and again, until nothing runs.
    private func sleepAndExpire() async {
        while let wake = earliest() {
            try? await Task.sleep(until: wake, tolerance: .zero)
            let now = ContinuousClock.now
            let late = state.withLock { state in
                let late = state.running.filter { $0.value.deadline <= now }
                for id in late.keys { state.running[id] = nil }
                return late.values.map(\.ending)
            }
            for ending in late { ending.finish(.failure(HookOverran(limit: limit))) }
        }
    }

    private func earliest() -> ContinuousClock.Instant? {
        state.withLock { state in
            let earliest = state.running.values.map(\.deadline).min()
            state.isWatching = earliest != nil
            return earliest
        }
    }
}

/// A hook that outlived its time limit; it is cancelled and left to itself.
struct HookOverran: Error, CustomStringConvertible {
    var limit: Duration
    var description: String { "ran longer than \(limit)" }
}
