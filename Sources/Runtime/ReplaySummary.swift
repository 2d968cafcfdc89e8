import Indexer
import Push

/// What a replay did.
public struct ReplaySummary: Sendable {
    public var events: Int
    public var commits: Int
    public var created: Int
    public var updated: Int
    public var deleted: Int
    /// What changed nothing, by reason.
    public var skipped: [String: Int]
    public var hookRuns: Int
    public var hookErrors: Int
    public var pushIsOn: Bool
    public var queued: Int
    public var sent: Int
    /// Tokens removed.
    public var removed: Int
    /// Pushes that were dropped with their token.
    public var dropped: Int
    /// Pushes that will never be sent, for another reason.
    public var failed: Int
    /// Hook jobs that an earlier process had left.
    public var resumedJobs: Int
    /// Until the last hook had run.
    public var indexing: Duration
    /// Until the last delivery had its outcome.
    public var total: Duration

    init(
        _ index: IndexSummary, push: PushCounts?, resumedJobs: Int, indexing: Duration, total: Duration
    ) {
        events = index.events
        commits = index.commits
        created = index.created
        updated = index.updated
        deleted = index.deleted
        skipped = index.skipped
        hookRuns = index.hookRuns
        hookErrors = index.hookErrors
        pushIsOn = push != nil
        queued = index.pushQueued
        sent = push?.sent ?? 0
        removed = push?.removed ?? 0
        dropped = push?.dropped ?? 0
        failed = push?.failed ?? 0
        self.resumedJobs = resumedJobs
        self.indexing = indexing
        self.total = total
    }

    public var eventsPerSecond: Double { Double(events) / max(indexing / .seconds(1), 1e-6) }

    /// The object that `hark replay --json` prints.
    public var json: JSONText {
        .object([
            ("events", .integer(events)),
            ("commits", .integer(commits)),
            (
                "records",
                .object([
                    ("created", .integer(created)), ("updated", .integer(updated)), ("deleted", .integer(deleted)),
                ])
            ),
            ("skipped", .object(skipped.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
            ("hooks", .object([("runs", .integer(hookRuns)), ("errors", .integer(hookErrors))])),
            (
                "push",
                .object([
                    ("queued", .integer(queued)), ("sent", .integer(sent)), ("removed", .integer(removed)),
                    ("failed", .integer(failed)),
                ])
            ),
            ("seconds", .number(((total / .seconds(1)) * 1000).rounded() / 1000)),
        ])
    }
}
