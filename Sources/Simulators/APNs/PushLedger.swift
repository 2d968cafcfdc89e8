import Synchronization

/// What the simulator has received, and who waits for more of it. Thread-safe.
final class PushLedger: Sendable {
    private struct State {
        var received: [ReceivedPush] = []
        var counts = APNsCounts()
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
    }

    private struct Waiter {
        var count: Int
        var accepted: Bool
        var continuation: CheckedContinuation<[ReceivedPush], Never>
    }

    private let state = Mutex(State())
    private let keepsPushes: Bool

    init(keepsPushes: Bool) { self.keepsPushes = keepsPushes }

    var received: [ReceivedPush] { state.withLock { $0.received } }
    var counts: APNsCounts { state.withLock { $0.counts } }

    func noteConnection() { state.withLock { $0.counts.connections += 1 } }

    func add(_ push: ReceivedPush, isDuplicate: Bool) {
        let satisfied = state.withLock { state in
            if keepsPushes { state.received.append(push) }
            state.counts.requests += 1
            if push.isAccepted {
                state.counts.accepted += 1
                if isDuplicate { state.counts.duplicates += 1 }
            } else {
                state.counts.refused[push.reason ?? "", default: 0] += 1
            }
            return Self.takeSatisfied(&state)
        }
        for (waiter, received) in satisfied { waiter.continuation.resume(returning: received) }
    }

    private static func takeSatisfied(_ state: inout State) -> [(Waiter, [ReceivedPush])] {
        if state.waiters.isEmpty { return [] }
        let counts = state.counts
        let ready = state.waiters.filter { _, waiter in
            (waiter.accepted ? counts.accepted : counts.requests) >= waiter.count
        }
        for key in ready.keys { state.waiters[key] = nil }
        return ready.values.map { ($0, state.received) }
    }

    /// Waits until `count` requests have come (or were accepted). Returns early when the task is cancelled.
    func wait(for count: Int, accepted: Bool) async -> [ReceivedPush] {
        let key = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let present: [ReceivedPush]? = state.withLock { state in
                    let reached = accepted ? state.counts.accepted : state.counts.requests
                    if reached >= count || Task.isCancelled { return state.received }
                    state.waiters[key] = Waiter(count: count, accepted: accepted, continuation: continuation)
                    return nil
                }
                if let present { continuation.resume(returning: present) }
            }
        } onCancel: {
            let (waiter, received) = state.withLock { ($0.waiters.removeValue(forKey: key), $0.received) }
            waiter?.continuation.resume(returning: received)
        }
    }
}
