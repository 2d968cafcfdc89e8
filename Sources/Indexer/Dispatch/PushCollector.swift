import HookKit
import Storage
import Synchronization

/// What a hook's sends are to write when its job ends.
struct Gathered: Sendable {
    var entries: [OutboxEntry] = []
    var notes: [OutboxNote] = []

    var isSilent: Bool { entries.isEmpty && notes.isEmpty }

    static func += (sum: inout Gathered, other: Gathered) {
        sum.entries += other.entries
        sum.notes += other.notes
    }
}

/// `context.push` of one hook run: gathers its notifications until the run has ended.
final class PushCollector: Push {
    private struct State {
        var gathered = Gathered()
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
        let origin = SendOrigin(
            hook: hook, uri: job.uri, rev: job.rev, place: place, time: job.timeMicroseconds / 1000)
        let draft = outbox.draft(notification, origin)
        state.withLock { state in
            guard !state.closed else { return }
            switch draft {
            case .entry(let entry): state.gathered.entries.append(entry)
            case .note(let note): state.gathered.notes.append(note)
            case .nothing: break
            }
        }
    }

    /// What was sent up to now; later sends are refused.
    func close() -> Gathered {
        state.withLock { state in
            state.closed = true
            return state.gathered
        }
    }
}
