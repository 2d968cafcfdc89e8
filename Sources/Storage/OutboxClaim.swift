import CSQLite

/// What a claim took, and what it settled on the way.
public struct ClaimedPushes: Sendable {
    public var pushes: [QueuedPush] = []
    /// Rows that were due too late.
    public var expired = 0
    /// Rows whose token is gone.
    public var orphaned = 0

    public init() {}
}

extension Transaction {
    /// Takes up to `limit` due rows for this worker until `leaseUntil`, in order of due time.
    ///
    /// Due rows that have expired, or whose token is gone, are settled on the way. Rows whose lease has ended are due
    /// again. Times in milliseconds since 1970.
    public func claimPushes(limit: Int, now: Int64, leaseUntil: Int64) throws -> ClaimedPushes {
        try checkOpen()
        _ = try releaseLeases(endedBy: now, now: now)
        var claimed = ClaimedPushes()
        claimed.pushes.reserveCapacity(limit)
        while claimed.pushes.count < limit {
            let due = try duePushes(limit: limit - claimed.pushes.count, now: now)
            try lease(due.sendable.map(\.id), until: leaseUntil)
            for id in due.expired {
                try settleWaiting(row: id, .expired, error: "expired before it was sent", now: now)
            }
            for id in due.orphaned { try settleWaiting(row: id, .removed, error: "the token is gone", now: now) }
            claimed.pushes += due.sendable
            claimed.expired += due.expired.count
            claimed.orphaned += due.orphaned.count
            if due.count < limit - claimed.pushes.count + due.sendable.count { break }
        }
        return claimed
    }

    /// At start: rows left running by an ended process are due again.
    /// - Returns: how many they were.
    @discardableResult
    public func releaseLeases(now: Int64) throws -> Int {
        try checkOpen()
        return try releaseLeases(endedBy: .max, now: now)
    }

    private struct Due {
        var sendable: [QueuedPush] = []
        var expired: [Int64] = []
        var orphaned: [Int64] = []
        var count: Int { sendable.count + expired.count + orphaned.count }
    }

    private func duePushes(limit: Int, now: Int64) throws -> Due {
        let statement = try connection.statement(
            """
            SELECT t.id, t.token, t.platform, t.environment, t.topic, t.lastSeenAt, q.id, q.dedupe_key, q.expires_at,
                q.attempts, m.id, q.did, m.payload, m.collapse_id, m.priority, m.push_type, m.is_once, m.badge
            FROM _push_queue AS q INDEXED BY _push_queue_due JOIN _push_messages AS m ON m.id = q.message_id
                LEFT JOIN _push_tokens AS t ON t.id = q.token_id
            WHERE q.next_attempt_at <= ? ORDER BY q.next_attempt_at, q.id LIMIT ?
            """)
        statement.bind(1, now)
        statement.bind(2, Int64(limit))
        var due = Due()
        // Rows of one notification mostly follow each other.
        var last: (id: Int64, message: PushMessage)?
        try statement.forEachRow { row in
            let id = row.integer(6)
            if row.isNull(0) { return due.orphaned.append(id) }
            if row.integer(8) <= now { return due.expired.append(id) }
            let message = last?.id == row.integer(10) ? last?.message : nil
            let found = message ?? PushMessage(row, at: 11)
            last = (row.integer(10), found)
            due.sendable.append(
                QueuedPush(
                    id: id, message: found, device: PushDevice(row, at: 0), key: DedupeKey(row.blob(7)),
                    expiresAt: row.integer(8), attempts: Int(row.integer(9))))
        }
        return due
    }

    private func lease(_ ids: [Int64], until time: Int64) throws(StorageError) {
        let statement = try connection.statement(
            "UPDATE _push_queue SET state = 'running', next_attempt_at = NULL WHERE id BETWEEN ? AND ?")
        for run in IDRuns(ids) {
            statement.bind(1, run.lowerBound)
            statement.bind(2, run.upperBound)
            try statement.run()
        }
        try addLeases(IDRuns(ids), until: time)
    }
}

extension PushMessage {
    /// From seven columns: did, payload, collapse_id, priority, push_type, is_once, badge.
    fileprivate convenience init(_ row: Statement, at column: Int32) {
        self.init(
            did: row.text(column), payload: [UInt8](row.utf8(column + 1)), collapseID: row.optionalText(column + 2),
            priority: Int(row.integer(column + 3)), pushType: row.text(column + 4),
            isOnce: row.integer(column + 5) != 0, badge: row.optionalText(column + 6))
    }
}
