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
        try releaseLeases(endedBy: now, now: now)
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

    @discardableResult
    private func releaseLeases(endedBy time: Int64, now: Int64) throws(StorageError) -> Int {
        let statement = try connection.statement(
            """
            UPDATE _push_queue SET state = 'retry', next_attempt_at = ?, lease_until = NULL
            WHERE lease_until <= ? AND lease_until IS NOT NULL
            """)
        statement.bind(1, now)
        statement.bind(2, time)
        try statement.run()
        return statement.changes
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
            SELECT q.id, q.expires_at, t.id, t.token, t.platform, t.environment, t.topic, t.lastSeenAt, q.dedupe_key,
                q.payload, q.collapse_id, q.priority, q.push_type, q.attempts, q.did, q.is_once, q.badge
            FROM _push_queue AS q INDEXED BY _push_queue_due LEFT JOIN _push_tokens AS t ON t.id = q.token_id
            WHERE q.next_attempt_at <= ? ORDER BY q.next_attempt_at, q.id LIMIT ?
            """)
        statement.bind(1, now)
        statement.bind(2, Int64(limit))
        var due = Due()
        try statement.forEachRow { row in
            if row.isNull(2) {
                due.orphaned.append(row.integer(0))
            } else if row.integer(1) <= now {
                due.expired.append(row.integer(0))
            } else {
                due.sendable.append(QueuedPush(row))
            }
        }
        return due
    }

    private func lease(_ ids: [Int64], until time: Int64) throws(StorageError) {
        let statement = try connection.statement(
            """
            UPDATE _push_queue SET state = 'running', next_attempt_at = NULL, lease_until = ? WHERE id BETWEEN ? AND ?
            """)
        for run in IDRuns(ids) {
            statement.bind(1, time)
            statement.bind(2, run.lowerBound)
            statement.bind(3, run.upperBound)
            try statement.run()
        }
    }
}

extension QueuedPush {
    /// From a row of `duePushes`.
    fileprivate init(_ row: Statement) {
        self.init(
            id: row.integer(0), did: row.text(14), tokenID: row.integer(2), token: row.text(3), platform: row.text(4),
            environment: row.text(5), topic: row.optionalText(6),
            registeredAt: Timestamp.milliseconds(row.utf8(7)) ?? 0, apnsID: DedupeKey.uuid(row.blob(8)),
            payload: [UInt8](row.utf8(9)), collapseID: row.optionalText(10), priority: Int(row.integer(11)),
            pushType: row.text(12), expiresAt: row.integer(1), attempts: Int(row.integer(13)),
            isOnce: row.integer(15) != 0, badge: row.optionalText(16))
    }
}
