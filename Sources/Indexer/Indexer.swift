import ATProto
import HookKit
import Storage
import Synchronization

/// Reads sources into the database and runs the hooks of what was applied.
///
/// Decoding and writing are stages that overlap: while the writer commits one batch, the next is decoded.
/// Nothing is read on while `Options.pendingJobs` applied ops, or `Options.pendingBytes` of their records, wait for
/// their hooks.
public final class Indexer: Sendable {
    public struct Options: Sendable {
        /// Ops in one transaction at most.
        public var batchOps = 2_000
        /// Bytes of records in one transaction, roughly at most.
        public var batchBytes = 2 << 20
        /// Batches that are decoded and not yet committed at most.
        public var batchesInFlight = 2
        /// Hook runs side by side at most.
        public var hookConcurrency = 32
        /// Applied ops whose hooks have not run at most; beyond it the source waits.
        public var pendingJobs = 5_000
        /// Bytes of their records at most.
        public var pendingBytes = 8 << 20
        /// How long one hook may run.
        public var hookTimeout: Duration = .seconds(30)
        public init() {}
    }

    private let database: Database
    private let schema: RecordSchema
    private let lexicons: Lexicons
    private let kept: CollectionFilter
    private let hooks: [Hook]
    private let options: Options
    private let emit: Emit
    private let dispatcher: HookDispatcher
    private let counts = Mutex(IndexSummary())

    /// `kept`: the collections whose records are written.
    public init(
        database: Database, schema: RecordSchema, lexicons: Lexicons, kept: CollectionFilter, hooks: [Hook],
        options: Options = Options(), outbox: NotificationOutbox, emit: Emit
    ) {
        self.database = database
        self.schema = schema
        self.lexicons = lexicons
        self.kept = kept
        self.hooks = hooks
        self.options = options
        self.emit = emit
        let runner = HookRunner(
            hooks: hooks, database: StoredHookDatabase(database: database), outbox: outbox, emit: emit,
            deadlines: HookDeadlines(limit: options.hookTimeout), executor: HookExecutor())
        dispatcher = HookDispatcher(
            runner: runner, database: database, concurrency: options.hookConcurrency, limit: options.pendingJobs,
            byteLimit: options.pendingBytes)
    }

    /// Runs the hooks of jobs that an earlier process left behind; returns how many there were. Call first.
    public func resumeJobs() async throws -> Int {
        var last: Int64 = 0
        var total = 0
        while true {
            try await dispatcher.room()
            let after = last
            let jobs = try await database.write { try $0.unfinishedJobs(after: after, limit: 1_000) }
            guard let newest = jobs.last?.id else { break }
            last = newest
            total += jobs.count
            dispatcher.enqueue(jobs)
        }
        try await dispatcher.drain()
        return total
    }

    /// Feeds a whole recording. Returns when its last batch is committed; hooks may still run.
    /// Throws when the file cannot be read on or the database cannot be written; what was committed stays.
    public func replay(
        _ recording: sending Recording, progress: @escaping @Sendable (ReplayProgress) -> Void = { _ in }
    ) async throws {
        var reader = BatchReader(recording, kept: kept, options: options)
        let context = IndexBatch.Context(
            schema: schema, lexicons: lexicons, hooks: hooks, source: reader.source, emit: emit)
        defer { context.problems.finish() }
        // Batches are kept until this task takes them up again, so that the writer need not free them.
        var inFlight = Fifo<(completion: Completion<AppliedBatch>, batch: IndexBatch)>()
        while let batch = try reader.next(context) {
            try Task.checkCancellation()
            try await dispatcher.room()
            if inFlight.count >= options.batchesInFlight { _ = try await inFlight.popFirst()?.completion.value() }
            inFlight.append((submit(batch), batch))
            let events = counts.withLock { $0.events }
            progress(
                ReplayProgress(bytesRead: reader.bytesRead, bytesTotal: reader.bytesTotal, events: events))
        }
        while let last = inFlight.popFirst() { _ = try await last.completion.value() }
    }

    /// Returns when no hook runs and every job's end is committed.
    public func drainHooks() async throws { try await dispatcher.drain() }

    public var summary: IndexSummary {
        var summary = counts.withLock { $0 }
        let hooks = dispatcher.counts
        summary.hookRuns = hooks.runs
        summary.hookErrors = hooks.errors
        summary.pushQueued = hooks.queued
        return summary
    }

    /// What has become of each hook's runs, by its name; of all hooks, those that have not run included.
    public var hookFigures: [String: HookFigures] {
        var figures = dispatcher.figures
        for hook in hooks where figures[hook.name] == nil { figures[hook.name] = HookFigures() }
        return figures
    }

    private func submit(_ batch: IndexBatch) -> Completion<AppliedBatch> {
        counts.withLock { $0.add(batch.counts) }
        let completion = Completion<AppliedBatch>()
        let records = batch.records
        database.submit { [crash = database.crash] transaction in
            let applied = try transaction.apply(records)
            crash?.reach(.beforeBatchCommit)
            return applied
        } committed: { [self] (result: Result<AppliedBatch, any Error>) in
            if case .success(let applied) = result {
                database.crash?.reach(.afterCommitBeforeDispatch)
                counts.withLock { $0.add(applied) }
                dispatcher.enqueue(applied.jobs)
            }
            completion.finish(result)
        }
        return completion
    }
}

extension IndexSummary {
    fileprivate mutating func add(_ other: IndexSummary) {
        events += other.events
        commits += other.commits
        ops += other.ops
        skipped.merge(other.skipped, uniquingKeysWith: +)
    }

    fileprivate mutating func add(_ applied: AppliedBatch) {
        created += applied.created
        updated += applied.updated
        deleted += applied.deleted
        skip("stale", applied.stale)
        skip("unknown-record", applied.unknownDeletes)
    }
}
