/// What came of asking for a row to be sent again.
public enum OutboxRetry: Sendable, Hashable {
    case due
    case noSuchRow
    /// In this state a row cannot be tried again: `running` or `sent`.
    case inState(String)
    case tokenIsGone
}

extension Transaction {
    /// Makes a waiting, dead or expired row due now. An ended one gets its attempts back, and `lifetime` milliseconds
    /// more when its time is over.
    /// - Parameter now: milliseconds since 1970.
    public func retryPush(_ id: Int64, now: Int64, lifetime: Int64) throws -> OutboxRetry {
        try checkOpen()
        let find = try connection.statement(
            "SELECT state, EXISTS (SELECT 1 FROM _push_tokens WHERE id = token_id) FROM _push_queue WHERE id = ?")
        find.bind(1, id)
        guard let (state, hasToken) = try find.first({ ($0.text(0), $0.integer(1) != 0) }) else { return .noSuchRow }
        switch PushState(rawValue: state) {
        case .running, .sent, nil: return .inState(state)
        case .available, .retry, .dead, .expired, .removed, .dropped: break
        }
        guard hasToken else { return .tokenIsGone }
        _ = try statements().waiting.take(CollectionOfOne(id...id))
        let hasEnded = state != PushState.available.rawValue && state != PushState.retry.rawValue
        let update = try connection.statement(
            """
            UPDATE _push_rows SET state = 'retry', next_attempt_at = ?2, failed_at = NULL,
                attempts = iif(?3, 0, attempts), expires_at = iif(expires_at <= ?2, ?4, expires_at) WHERE id = ?1
            """)
        update.bind(1, id)
        update.bind(2, now)
        update.bind(3, hasEnded ? 1 : 0)
        update.bind(4, now + lifetime)
        try update.run()
        if hasEnded { try uncountFailure() }
        return .due
    }

    /// Makes rows due now that wait for longer, and whose error begins with `start`; `limit` at most, and says how many.
    /// A scan of the waiting rows.
    /// - Parameter now: milliseconds since 1970.
    public func hastenPushes(whoseErrorBegins start: String, now: Int64, limit: Int) throws -> Int {
        try checkOpen()
        let statement = try connection.statement(
            """
            UPDATE _push_rows SET next_attempt_at = ?1 WHERE id IN (
                SELECT id FROM _push_rows INDEXED BY _push_rows_due
                WHERE next_attempt_at > ?1 AND substr(last_error, 1, length(?2)) = ?2 LIMIT ?3)
            """)
        statement.bind(1, now)
        statement.bind(2, start)
        statement.bind(3, Int64(limit))
        try statement.run()
        return statement.changes
    }

    /// Rows in the state `dead` whose device is still there, by id, after `id`.
    public func deadPushes(after id: Int64, limit: Int) throws -> [Int64] {
        try checkOpen()
        let statement = try connection.statement(
            """
            SELECT id FROM _push_rows WHERE id > ? AND state = 'dead'
                AND EXISTS (SELECT 1 FROM _push_tokens AS t WHERE t.id = token_id) ORDER BY id LIMIT ?
            """)
        statement.bind(1, id)
        statement.bind(2, Int64(limit))
        var ids: [Int64] = []
        try statement.forEachRow { ids.append($0.integer(0)) }
        return ids
    }

    private func uncountFailure() throws(StorageError) {
        let statement = try connection.statement(
            "UPDATE _counters SET value = max(value - 1, 0) WHERE name = 'push-failed'")
        try statement.run()
    }
}
