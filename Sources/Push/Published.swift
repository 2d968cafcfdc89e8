import Storage
import Synchronization

/// What is counted on the loop and by hooks, for other threads to read.
final class Published: Sendable {
    private struct State {
        var counts = PushCounts()
        var outcomes = PushOutcomes()
    }

    private let state = Mutex(State())

    var counts: PushCounts {
        get { state.withLock { $0.counts } }
        set { state.withLock { $0.counts = newValue } }
    }

    var outcomes: PushOutcomes { state.withLock { $0.outcomes } }

    func add(_ outcome: String, _ reason: String = "") { state.withLock { $0.outcomes.add(outcome, reason) } }

    func add(_ writes: OutboxWrites) {
        state.withLock { state in
            state.outcomes.add("queued", "", writes.queued)
            state.outcomes.add(OutboxNote.noToken, "", writes.withoutToken)
            state.outcomes.add(OutboxNote.deduplicated, "", writes.deduplicated)
            state.outcomes.add(OutboxNote.turnedOff, "", writes.turnedOff)
            state.outcomes.add(OutboxNote.notFollowed, "", writes.notFollowed)
        }
    }

    /// Adds the ends of a batch, and what the database settled beside them.
    func count(_ ends: [PushEnd], _ settled: SettledPushes, _ claimed: ClaimedPushes) {
        state.withLock { state in
            var sent = 0
            for end in ends {
                let reason = end.settlement.error.map { PushOutcomes.reason(of: $0) } ?? ""
                switch end.settlement.outcome {
                case .sent: sent += 1
                case .retry: state.outcomes.add("retry", reason)
                case .dead: state.outcomes.add("dead", reason)
                case .expired: state.outcomes.add("expired")
                case .removeToken: state.outcomes.add("removed", reason)
                }
            }
            state.outcomes.add("sent", "", sent)
            state.outcomes.add("expired", "", claimed.expired)
            state.outcomes.add("removed", "token removed", claimed.orphaned + settled.droppedWaiting)
        }
    }
}
