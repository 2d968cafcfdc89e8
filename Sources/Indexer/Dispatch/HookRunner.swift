import ATProto
import FoundationEssentials
import HookKit
import Storage
import Synchronization

/// Runs one job's hooks to their end, each within the time limit.
struct HookRunner: Sendable {
    let hooks: [Hook]
    let database: StoredHookDatabase
    let outbox: NotificationOutbox
    let emit: Emit
    let timeout: Duration
    let executor: HookExecutor

    /// What came of a job.
    struct Result: Sendable {
        var entries: [OutboxEntry] = []
        var runs = 0
        var errors = 0
    }

    func run(_ job: HookJob) async -> Result {
        var result = Result()
        let matching = hooks.filter { $0.trigger.matches(job.collection) }
        let record: Value?
        do {
            record = try job.record.map { try JSON.decode($0) }
        } catch {
            emit("hooks", "error", ["uri": job.uri, "error": "the stored record cannot be read: \(error)"])
            result.errors = matching.count
            return result
        }
        if matching.count == 1 {
            let (entries, failed) = await run(matching[0], job, record)
            return Result(entries: entries, runs: 1, errors: failed ? 1 : 0)
        }
        await withTaskGroup(of: (entries: [OutboxEntry], failed: Bool).self) { group in
            for hook in matching { group.addTask { await run(hook, job, record) } }
            for await (entries, failed) in group {
                result.entries += entries
                result.runs += 1
                result.errors += failed ? 1 : 0
            }
        }
        return result
    }

    private func run(_ hook: Hook, _ job: HookJob, _ record: Value?) async -> (entries: [OutboxEntry], failed: Bool) {
        let collector = PushCollector(hook: hook.name, job: job, outbox: outbox, emit: emit)
        let context = HookContext(
            action: job.action, collection: job.collection, record: record, repo: job.did, uri: job.uri,
            rkey: job.rkey, cid: job.cid, rev: job.rev,
            time: Date(timeIntervalSince1970: Double(job.timeMicroseconds) / 1e6), live: job.live, db: database,
            push: collector)
        let problem = await firstOf(hook, context)
        if let problem {
            emit("hooks", "error", ["hook": hook.name, "uri": job.uri, "error": problem])
        }
        return (collector.close(), problem != nil)
    }

    /// Waits for the hook or for its time limit, whichever comes first; a hook that outlives the limit is cancelled
    /// and left to itself. Returns what went wrong.
    private func firstOf(_ hook: Hook, _ context: HookContext) async -> String? {
        let race = Race()
        return await withCheckedContinuation { continuation in
            race.start(continuation)
            let work = Task(executorPreference: executor) {
                do {
                    try await hook.body(context)
                    race.finish(nil)
                } catch {
                    race.finish("\(error)")
                }
            }
            let limit = timeout
            let watch = Task {
                try await Task.sleep(for: limit)
                if race.finish("ran longer than \(limit)") { work.cancel() }
            }
            race.whenFinished { watch.cancel() }
        }
    }
}

/// Resumes a continuation once, whoever comes first.
private final class Race: Sendable {
    private struct State {
        var continuation: CheckedContinuation<String?, Never>?
        var finished = false
        var cleanUp: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func start(_ continuation: CheckedContinuation<String?, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    /// True for the first caller.
    @discardableResult
    func finish(_ problem: String?) -> Bool {
        let (continuation, cleanUp) = state.withLock { state in
            defer {
                state.continuation = nil
                state.cleanUp = nil
                state.finished = true
            }
            return (state.continuation, state.cleanUp)
        }
        continuation?.resume(returning: problem)
        cleanUp?()
        return continuation != nil
    }

    func whenFinished(_ cleanUp: @escaping @Sendable () -> Void) {
        let late = state.withLock { state in
            if !state.finished { state.cleanUp = cleanUp }
            return state.finished
        }
        if late { cleanUp() }
    }
}
