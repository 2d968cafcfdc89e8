import ATProto
import HookKit
import Storage

/// Reads sources into the database and runs the hooks of what was applied.
public final class Indexer: Sendable {
    public struct Options: Sendable {
        /// Ops in one transaction at most.
        public var batchOps = 2_000
        /// Hook runs side by side at most.
        public var hookConcurrency = 32
        /// Applied ops whose hooks have not run at most; beyond it the source waits.
        public var pendingJobs = 10_000
        /// How long one hook may run.
        public var hookTimeout: Duration = .seconds(30)
        public init() {}
    }

    public init(
        database: Database, schema: RecordSchema, lexicons: Lexicons, kept: CollectionFilter, hooks: [Hook],
        options: Options = Options(), outbox: NotificationOutbox, emit: Emit
    ) { fatalError("stub") }

    /// Runs the hooks of jobs that an earlier process left behind; returns how many there were. Call first.
    public func resumeJobs() async throws -> Int { fatalError("stub") }

    /// Feeds a whole recording. Returns when its last batch is committed; hooks may still run.
    public func replay(
        _ recording: Recording, progress: @escaping @Sendable (ReplayProgress) -> Void = { _ in }
    ) async throws { fatalError("stub") }

    /// Returns when no hook runs and every job's end is committed.
    public func drainHooks() async throws { fatalError("stub") }

    public var summary: IndexSummary { fatalError("stub") }
}

/// A file of recorded events.
public final class Recording {
    /// Opens the file and tells its format by its content.
    public init(path: String) throws { fatalError("stub") }
}
