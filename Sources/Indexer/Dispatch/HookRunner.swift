import ATProto
import FoundationEssentials
import HookKit
import Storage

/// Runs one job's hooks to their end, each within the time limit.
struct HookRunner: Sendable {
    let hooks: [Hook]
    let database: StoredHookDatabase
    let outbox: NotificationOutbox
    let emit: Emit
    let deadlines: HookDeadlines
    let executor: HookExecutor
    let meter = HookMeter()

    /// What came of a job.
    struct Result: Sendable {
        var gathered = Gathered()
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
            for hook in matching { meter.failed(hook.name, on: job.uri, "the stored record cannot be read: \(error)") }
            return result
        }
        if matching.count == 1 {
            let (gathered, failed) = await run(matching[0], job, record)
            return Result(gathered: gathered, runs: 1, errors: failed ? 1 : 0)
        }
        await withTaskGroup(of: (gathered: Gathered, failed: Bool).self) { group in
            for hook in matching { group.addTask { await run(hook, job, record) } }
            for await (gathered, failed) in group {
                result.gathered += gathered
                result.runs += 1
                result.errors += failed ? 1 : 0
            }
        }
        return result
    }

    private func run(_ hook: Hook, _ job: HookJob, _ record: Value?) async -> (gathered: Gathered, failed: Bool) {
        let collector = PushCollector(hook: hook.name, job: job, outbox: outbox, emit: emit)
        let context = HookContext(
            action: job.action, collection: job.collection, record: record, repo: job.did, uri: job.uri,
            rkey: job.rkey, cid: job.cid, rev: job.rev,
            time: Date(timeIntervalSince1970: Double(job.timeMicroseconds) / 1e6), live: job.live, db: database,
            push: collector)
        let ending = Completion<Void>()
        let start = ContinuousClock.now
        let work = Task(executorPreference: executor) {
            do {
                try await hook.body(context)
                ending.finish(.success(()))
            } catch {
                ending.finish(.failure(error))
            }
        }
        let watch = deadlines.watch(ending)
        defer {
            deadlines.forget(watch)
            work.cancel()
        }
        do {
            try await ending.value()
            meter.ran(hook.name, for: start.duration(to: .now))
            var gathered = collector.close()
            if gathered.isSilent, outbox.notesSilence {
                gathered.notes.append(
                    OutboxNote(
                        uri: job.uri, hook: hook.name, did: nil, reason: "\(OutboxNote.silent): \(job.action.rawValue)")
                )
            }
            return (gathered, false)
        } catch {
            meter.ran(hook.name, for: start.duration(to: .now))
            meter.failed(hook.name, on: job.uri, "\(error)")
            // Closed before the hook is cancelled: what it does then comes too late.
            var gathered = collector.close()
            emit("hooks", "error", ["hook": hook.name, "uri": job.uri, "error": "\(error)"])
            gathered.notes.append(
                OutboxNote(uri: job.uri, hook: hook.name, did: nil, reason: "failed: \(error)"))
            return (gathered, true)
        }
    }
}
