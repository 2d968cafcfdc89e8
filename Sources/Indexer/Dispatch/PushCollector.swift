import HookKit
import Storage
import Synchronization

/// `context.push` of one hook run: gathers its notifications until the run has ended.
final class PushCollector: Push {
    private struct State {
        var entries: [OutboxEntry] = []
        var place = 0
        var closed = false
    }

    private let state = Mutex(State())
    private let hook: String
    private let job: HookJob
    private let outbox: NotificationOutbox
    private let emit: Emit

    init(hook: String, job: HookJob, outbox: NotificationOutbox, emit: Emit) {
        self.hook = hook
        self.job = job
        self.outbox = outbox
        self.emit = emit
    }

    func send(_ notification: Notification) {
        let place: Int? = state.withLock { state in
            guard !state.closed else { return nil }
            defer { state.place += 1 }
            return state.place
        }
        guard let place else {
            return emit("push", "too-late", ["hook": hook, "uri": job.uri, "error": "sent after its hook had ended"])
        }
        guard let entry = outbox.entry(notification, hook, job.uri, job.rev, place) else { return }
        state.withLock { if !$0.closed { $0.entries.append(entry) } }
    }

    /// What was sent up to now; later sends are refused.
    func close() -> [OutboxEntry] {
        state.withLock { state in
            state.closed = true
            return state.entries
        }
    }
}
