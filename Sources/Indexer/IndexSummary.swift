/// What an indexer has done since it was made.
public struct IndexSummary: Sendable, Hashable {
    /// Messages read, undecodable ones included.
    public var events = 0
    public var commits = 0
    /// Creates, updates and deletes inside those, whatever became of them.
    public var ops = 0
    public var created = 0
    public var updated = 0
    public var deleted = 0
    /// Events and ops that changed nothing, by reason: `malformed`, `stale`, `not-kept`, `unknown-record`,
    /// a `DropReason`, or a `Violation.Reason`.
    public var skipped: [String: Int] = [:]
    public var hookRuns = 0
    /// Runs that threw or outlived their time limit.
    public var hookErrors = 0
    /// Outbox rows that hooks made.
    public var pushQueued = 0

    public init() {}

    mutating func skip(_ reason: String, _ count: Int = 1) {
        if count > 0 { skipped[reason, default: 0] += count }
    }
}

/// How far a replay has come.
public struct ReplayProgress: Sendable, Hashable {
    public var bytesRead: Int64
    public var bytesTotal: Int64
    public var events: Int
}
