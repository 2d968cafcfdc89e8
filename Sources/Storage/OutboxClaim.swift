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
            let due = try dueRows(limit: limit - claimed.pushes.count, now: now)
            if due.isEmpty { break }
            let found = try load(due, now: now)
            // Rows that somebody has deleted by hand are not waited for.
            if found.isEmpty { _ = try statements().waiting.take(due.sorted { $0.lowerBound < $1.lowerBound }) }
            try lease(found.sendable.map(\.id), until: leaseUntil)
            for id in found.expired {
                try settleWaiting(row: id, .expired, error: "expired before it was sent", now: now)
            }
            for id in found.orphaned { try settleWaiting(row: id, .removed, error: "the token is gone", now: now) }
            claimed.pushes += found.sendable
            claimed.expired += found.expired.count
            claimed.orphaned += found.orphaned.count
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

    /// Due rows in order of due time, as runs: those that wait again one by one, the others many at a time.
    private func dueRows(limit: Int, now: Int64) throws -> [ClosedRange<Int64>] {
        var due: [(time: Int64, rows: ClosedRange<Int64>)] = []
        let again = try connection.statement(
            """
            SELECT next_attempt_at, id FROM _push_rows INDEXED BY _push_rows_due
            WHERE next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ?
            """)
        again.bind(1, now)
        again.bind(2, Int64(limit))
        try again.forEachRow { due.append(($0.integer(0), $0.integer(1)...$0.integer(1))) }
        let waiting = try connection.statement(
            "SELECT due, first, last FROM _push_waiting WHERE due <= ? ORDER BY due, last LIMIT ?")
        waiting.bind(1, now)
        waiting.bind(2, Int64(limit))
        var count = 0
        try waiting.forEachRow { row in
            guard count < limit else { return }
            due.append((row.integer(0), row.integer(1)...row.integer(2)))
            count += Int(row.integer(2) - row.integer(1)) + 1
        }
        due.sort { ($0.time, $0.rows.lowerBound) < ($1.time, $1.rows.lowerBound) }
        var room = Int64(limit)
        var runs: [ClosedRange<Int64>] = []
        for (_, rows) in due where room > 0 {
            let last = min(rows.upperBound, rows.lowerBound + room - 1)
            runs.append(rows.lowerBound...last)
            room -= last - rows.lowerBound + 1
        }
        return runs
    }

    private struct Found {
        var sendable: [QueuedPush] = []
        var expired: [Int64] = []
        var orphaned: [Int64] = []
        var isEmpty: Bool { sendable.isEmpty && expired.isEmpty && orphaned.isEmpty }
    }

    private func load(_ runs: [ClosedRange<Int64>], now: Int64) throws -> Found {
        let statement = try connection.statement(
            """
            SELECT t.id, t.token, t.platform, t.environment, t.topic, t.lastSeenAt, r.id, r.dedupe_key, r.expires_at,
                r.attempts, r.did, r.collapse_id, r.priority, r.push_type, r.is_once, r.badge, r.payload
            FROM _push_rows AS r LEFT JOIN _push_tokens AS t ON t.id = r.token_id
            WHERE r.id BETWEEN ? AND ? ORDER BY r.id
            """)
        var found = Found()
        for rows in runs {
            statement.bind(1, rows.lowerBound)
            statement.bind(2, rows.upperBound)
            try statement.forEachRow { row in
                let id = row.integer(6)
                if row.isNull(0) { return found.orphaned.append(id) }
                if row.integer(8) <= now { return found.expired.append(id) }
                // Rows of one notification mostly follow each other.
                let last = found.sendable.last?.message
                let message = last.flatMap { $0.isThat(of: row, at: 10) ? $0 : nil } ?? PushMessage(row, at: 10)
                found.sendable.append(
                    QueuedPush(
                        id: id, message: message, device: PushDevice(row, at: 0), key: DedupeKey(row.blob(7)),
                        expiresAt: row.integer(8), attempts: Int(row.integer(9))))
            }
        }
        return found
    }

    /// Those that waited for the first time leave their runs for others; those that waited again are written.
    private func lease(_ ids: [Int64], until time: Int64) throws {
        let again = try connection.statement(
            """
            UPDATE _push_rows SET state = 'running', next_attempt_at = NULL
            WHERE id BETWEEN ? AND ? AND next_attempt_at IS NOT NULL
            """)
        let runs = IDRuns(ids)
        var fresh = try statements().waiting.take(runs)[...]
        for run in runs {
            let isWhole = fresh.first == run
            while let first = fresh.first, first.upperBound <= run.upperBound { fresh.removeFirst() }
            if isWhole { continue }
            again.bind(1, run.lowerBound)
            again.bind(2, run.upperBound)
            try again.run()
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
