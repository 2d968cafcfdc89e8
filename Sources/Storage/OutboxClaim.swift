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
            SELECT t.id, t.token, t.platform, t.environment, t.topic, t.lastSeenAt, r.id, r.dedupe_key, r.expires_at,
                r.attempts, r.did, r.collapse_id, r.priority, r.push_type, r.is_once, r.badge, r.payload
            FROM _push_rows AS r INDEXED BY _push_rows_due LEFT JOIN _push_tokens AS t ON t.id = r.token_id
            WHERE r.next_attempt_at <= ? ORDER BY r.next_attempt_at, r.id LIMIT ?
            """)
        statement.bind(1, now)
        statement.bind(2, Int64(limit))
        var due = Due()
        try statement.forEachRow { row in
            let id = row.integer(6)
            if row.isNull(0) { return due.orphaned.append(id) }
            if row.integer(8) <= now { return due.expired.append(id) }
            // Rows of one notification mostly follow each other.
            let last = due.sendable.last?.message
            let message = last.flatMap { $0.isThat(of: row, at: 10) ? $0 : nil } ?? PushMessage(row, at: 10)
            due.sendable.append(
                QueuedPush(
                    id: id, message: message, device: PushDevice(row, at: 0), key: DedupeKey(row.blob(7)),
                    expiresAt: row.integer(8), attempts: Int(row.integer(9))))
        }
        return due
    }

    private func lease(_ ids: [Int64], until time: Int64) throws(StorageError) {
        let statement = try connection.statement(
            "UPDATE _push_rows SET state = 'running', next_attempt_at = NULL WHERE id BETWEEN ? AND ?")
        let runs = IDRuns(ids)
        for run in runs {
            statement.bind(1, run.lowerBound)
            statement.bind(2, run.upperBound)
            try statement.run()
        }
        try addLeases(runs, until: time)
    }
}

extension PushMessage {
    /// From seven columns: did, collapse_id, priority, push_type, is_once, badge, payload.
    fileprivate convenience init(_ row: Statement, at column: Int32) {
        self.init(
            did: row.text(column), payload: [UInt8](row.utf8(column + 6)), collapseID: row.optionalText(column + 1),
            priority: Int(row.integer(column + 2)), pushType: row.text(column + 3),
            isOnce: row.integer(column + 4) != 0, badge: row.optionalText(column + 5))
    }

    /// Whether the same is in these columns.
    fileprivate func isThat(of row: Statement, at column: Int32) -> Bool {
        // What mostly differs comes first.
        did.utf8.elementsEqual(row.utf8(column)) && payload.elementsEqual(row.utf8(column + 6))
            && collapseID == row.optionalText(column + 1) && priority == Int(row.integer(column + 2))
            && pushType == row.text(column + 3) && isOnce == (row.integer(column + 4) != 0)
            && badge == row.optionalText(column + 5)
    }
}
