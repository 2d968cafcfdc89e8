/// What waits in the outbox, and what ended dead.
public struct OutboxDepth: Sendable, Hashable {
    /// Waiting, and due.
    public var due = 0
    /// Waiting for a later attempt.
    public var retry = 0
    public var running = 0
    /// Given up, and still kept.
    public var dead = 0
    /// When the first of the waiting is due, in milliseconds since 1970.
    public var nextDue: Int64?

    public init() {}
}

extension Connection {
    static let depthSQL: StaticString = """
        SELECT
            (SELECT count(*) FROM _push_rows INDEXED BY _push_rows_due
                WHERE next_attempt_at IS NOT NULL AND next_attempt_at <= ?1)
                + (SELECT ifnull(sum(last - first + 1), 0) FROM _push_waiting WHERE due <= ?1),
            (SELECT count(*) FROM _push_rows INDEXED BY _push_rows_due
                WHERE next_attempt_at IS NOT NULL AND next_attempt_at > ?1)
                + (SELECT ifnull(sum(last - first + 1), 0) FROM _push_waiting WHERE due > ?1),
            (SELECT ifnull(sum(last - first + 1), 0) FROM _push_leases),
            (SELECT count(*) FROM _push_rows INDEXED BY _push_rows_dead WHERE state = 'dead')
        """

    /// Found in the indexes and among the runs alone, so that anybody may ask.
    /// - Parameter now: milliseconds since 1970.
    public func outboxDepth(now: Int64) throws -> OutboxDepth {
        let statement = try statement(Self.depthSQL)
        statement.bind(1, now)
        let depth = try statement.first { row in
            var depth = OutboxDepth()
            depth.due = Int(row.integer(0))
            depth.retry = Int(row.integer(1))
            depth.running = Int(row.integer(2))
            depth.dead = Int(row.integer(3))
            return depth
        }
        guard var depth else { return OutboxDepth() }
        depth.nextDue = try nextPushDue()
        return depth
    }
}
