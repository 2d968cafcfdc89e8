import CSQLite

extension Transaction {
    /// Records what became of claimed rows. A row that is no longer leased is left alone.
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: what the database made of them.
    @discardableResult
    public func settle(_ results: [PushSettlement], now: Int64) throws -> SettledPushes {
        try checkOpen()
        var settled = SettledPushes()
        var sent: [Int64] = []
        // Waiting rows that go with a token are counted where they are settled.
        var removed = 0
        for result in results {
            switch result.outcome {
            case .sent: sent.append(result.id)
            case .retry(let time, let counted): try postpone(result, until: time, counted: counted)
            case .dead: settled.failed += try fail(result, .dead, now: now)
            case .expired: settled.failed += try fail(result, .expired, now: now)
            case .removeToken(let time):
                if try removeDeadToken(result, registeredBefore: time, now: now, &settled) {
                    removed += try fail(result, .removed, now: now)
                } else {
                    settled.failed += try fail(result, .dead, now: now)
                }
            }
        }
        settled.sent = try markSent(sent, now: now)
        try noteTokenFaults(results, now: now)
        try dropEndedLeases()
        settled.dropped += removed
        try count("push-sent", settled.sent)
        try count("push-failed", settled.failed + removed)
        return settled
    }

    private func markSent(_ ids: [Int64], now: Int64) throws(StorageError) -> Int {
        let statement = try connection.statement(
            """
            UPDATE _push_queue SET state = 'sent', sent_at = ?, attempts = attempts + 1, last_error = NULL
            WHERE id BETWEEN ? AND ? AND state = 'running'
            """)
        var sent = 0
        for run in IDRuns(ids) {
            statement.bind(1, now)
            statement.bind(2, run.lowerBound)
            statement.bind(3, run.upperBound)
            try statement.run()
            sent += statement.changes
        }
        return sent
    }

    private func postpone(_ result: PushSettlement, until time: Int64, counted: Bool) throws(StorageError) {
        let statement = try connection.statement(
            """
            UPDATE _push_queue SET state = 'retry', next_attempt_at = ?, attempts = attempts + ?, last_error = ?
            WHERE id = ? AND state = 'running'
            """)
        statement.bind(1, time)
        statement.bind(2, counted ? 1 : 0)
        statement.bind(3, result.error)
        statement.bind(4, result.id)
        try statement.run()
    }

    private func fail(_ result: PushSettlement, _ state: PushState, now: Int64) throws(StorageError) -> Int {
        let statement = try connection.statement(
            """
            UPDATE _push_queue SET state = ?, failed_at = ?, attempts = attempts + ?, last_error = ?
            WHERE id = ? AND state = 'running'
            """)
        statement.bind(1, state.rawValue)
        statement.bind(2, now)
        statement.bind(3, state == .expired ? 0 : 1)
        statement.bind(4, result.error)
        statement.bind(5, result.id)
        try statement.run()
        return statement.changes
    }

    // MARK: Tokens that are gone

    /// Removes a token that Apple calls dead, unless it has been registered again since. True when it is gone.
    private func removeDeadToken(
        _ result: PushSettlement, registeredBefore time: Int64, now: Int64, _ settled: inout SettledPushes
    ) throws -> Bool {
        let statement = try connection.statement("SELECT lastSeenAt FROM _push_tokens WHERE id = ?")
        statement.bind(1, result.tokenID)
        let lastSeen = try statement.first { Timestamp.milliseconds($0.utf8(0)) ?? 0 }
        guard let lastSeen else { return true }
        guard lastSeen < time else { return false }
        let delete = try connection.statement("DELETE FROM _push_tokens WHERE id = ? RETURNING did")
        delete.bind(1, result.tokenID)
        if let did = try delete.first({ $0.text(0) }) { recipients.forget(did) }
        settled.tokensRemoved += 1
        let waiting = try settleWaiting(of: result.tokenID, error: result.error ?? "the token is gone", now: now)
        settled.dropped += waiting
        settled.droppedWaiting += waiting
        return true
    }

    /// Settles the waiting rows of a token as removed. Returns how many there were.
    @discardableResult
    func settleWaiting(of token: Int64, error: String, now: Int64) throws(StorageError) -> Int {
        let statement = try connection.statement(
            """
            UPDATE _push_queue INDEXED BY _push_queue_waiting
            SET state = 'removed', failed_at = ?, next_attempt_at = NULL, last_error = ?
            WHERE token_id = ? AND next_attempt_at IS NOT NULL
            """)
        statement.bind(1, now)
        statement.bind(2, error)
        statement.bind(3, token)
        try statement.run()
        let dropped = statement.changes
        try count("push-failed", dropped)
        return dropped
    }

    /// Settles one waiting row that is not to be sent any more.
    func settleWaiting(row id: Int64, _ state: PushState, error: String, now: Int64) throws(StorageError) {
        let statement = try connection.statement(
            """
            UPDATE _push_queue SET state = ?, failed_at = ?, next_attempt_at = NULL, last_error = ?
            WHERE id = ? AND next_attempt_at IS NOT NULL
            """)
        statement.bind(1, state.rawValue)
        statement.bind(2, now)
        statement.bind(3, error)
        statement.bind(4, id)
        try statement.run()
        try count("push-failed", statement.changes)
    }

    // MARK: Counting

    private func count(_ name: String, _ number: Int) throws(StorageError) {
        guard number > 0 else { return }
        let statement = try connection.statement("UPDATE _counters SET value = value + ? WHERE name = ?")
        statement.bind(1, Int64(number))
        statement.bind(2, name)
        try statement.run()
    }
}

extension Connection {
    static let countingSQL: StaticString = """
        SELECT
            (SELECT count(*) FROM _push_queue INDEXED BY _push_queue_due WHERE next_attempt_at IS NOT NULL),
            (SELECT count(*) FROM _push_leases JOIN _push_queue AS q ON q.id BETWEEN first AND last
                WHERE state = 'running'),
            (SELECT value FROM _counters WHERE name = 'push-sent'),
            (SELECT value FROM _counters WHERE name = 'push-failed'),
            (SELECT min(next_attempt_at) FROM _push_queue INDEXED BY _push_queue_due
                WHERE next_attempt_at IS NOT NULL)
        """

    /// Rows of the outbox by state. Settled rows are not counted one by one.
    public func outboxCounts() throws -> OutboxCounts {
        let statement = try statement(Self.countingSQL)
        let counts = try statement.first { row in
            var counts = OutboxCounts()
            counts.waiting = Int(row.integer(0))
            counts.running = Int(row.integer(1))
            counts.sent = Int(row.integer(2))
            counts.failed = Int(row.integer(3))
            counts.nextDue = row.optionalInteger(4)
            return counts
        }
        return counts ?? OutboxCounts()
    }

    /// The earliest due time among the waiting rows (milliseconds since 1970), found without counting them.
    public func nextPushDue() throws -> Int64? {
        let statement = try statement(
            """
            SELECT min(next_attempt_at) FROM _push_queue INDEXED BY _push_queue_due WHERE next_attempt_at IS NOT NULL
            """)
        return try statement.first { $0.optionalInteger(0) } ?? nil
    }
}
