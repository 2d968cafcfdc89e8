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
        var others: [Int64] = []
        sent.reserveCapacity(results.count)
        for result in results {
            if case .sent = result.outcome { sent.append(result.id) } else { others.append(result.id) }
        }
        settled.sent = try markSent(sent, now: now)
        // Waiting rows that go with a token are counted where they are settled.
        var removed = 0
        if !others.isEmpty { removed = try settle(results, of: endLeases(others), now: now, &settled) }
        try noteTokenFaults(results, now: now)
        settled.dropped += removed
        try count("push-sent", settled.sent)
        try count("push-failed", settled.failed + removed)
        return settled
    }

    /// Ends the rows' leases and says that they are sent: the rows themselves are not touched.
    private func markSent(_ ids: [Int64], now: Int64) throws(StorageError) -> Int {
        let rows = try endLeases(ids)
        try statements().sent.add(rows, now)
        return rows.idCount
    }

    /// Settles those of `results` that are not sent, of the rows whose lease was ended for it.
    /// - Returns: how many went with their token.
    private func settle(
        _ results: [PushSettlement], of rows: [ClosedRange<Int64>], now: Int64, _ settled: inout SettledPushes
    ) throws -> Int {
        var removed = 0
        for result in results {
            let isLeased = rows.holds(result.id)
            switch result.outcome {
            case .sent: break
            case .retry(let time, let counted): if isLeased { try postpone(result, until: time, counted: counted) }
            case .dead: settled.failed += try fail(result, .dead, if: isLeased, now: now)
            case .expired: settled.failed += try fail(result, .expired, if: isLeased, now: now)
            case .removeToken(let time):
                if try removeDeadToken(result, registeredBefore: time, now: now, &settled) {
                    removed += try fail(result, .removed, if: isLeased, now: now)
                } else {
                    settled.failed += try fail(result, .dead, if: isLeased, now: now)
                }
            }
        }
        return removed
    }

    private func postpone(_ result: PushSettlement, until time: Int64, counted: Bool) throws(StorageError) {
        let statement = try connection.statement(
            """
            UPDATE _push_rows SET state = 'retry', next_attempt_at = ?, attempts = attempts + ?, last_error = ?
            WHERE id = ? AND state = 'running'
            """)
        statement.bind(1, time)
        statement.bind(2, counted ? 1 : 0)
        statement.bind(3, result.error)
        statement.bind(4, result.id)
        try statement.run()
    }

    private func fail(
        _ result: PushSettlement, _ state: PushState, if isLeased: Bool, now: Int64
    ) throws(StorageError) -> Int {
        guard isLeased else { return 0 }
        let statement = try connection.statement(
            """
            UPDATE _push_rows SET state = ?, failed_at = ?, attempts = attempts + ?, last_error = ?
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

    /// Settles the rows of a token as removed that wait again. Those that nobody has taken yet are found to be without a
    /// token when their turn comes. Returns how many there were.
    @discardableResult
    func settleWaiting(of token: Int64, error: String, now: Int64) throws(StorageError) -> Int {
        let statement = try connection.statement(
            """
            UPDATE _push_rows INDEXED BY _push_rows_waiting
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
        let isFirstTime = try !statements().waiting.take(CollectionOfOne(id...id)).isEmpty
        let statement = try connection.statement(
            """
            UPDATE _push_rows SET state = ?, failed_at = ?, next_attempt_at = NULL, last_error = ?
            WHERE id = ? AND (next_attempt_at IS NOT NULL OR ?)
            """)
        statement.bind(1, state.rawValue)
        statement.bind(2, now)
        statement.bind(3, error)
        statement.bind(4, id)
        statement.bind(5, isFirstTime ? 1 : 0)
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
            (SELECT count(*) FROM _push_rows INDEXED BY _push_rows_due WHERE next_attempt_at IS NOT NULL)
                + (SELECT ifnull(sum(last - first + 1), 0) FROM _push_waiting),
            (SELECT ifnull(sum(last - first + 1), 0) FROM _push_leases),
            (SELECT value FROM _counters WHERE name = 'push-sent'),
            (SELECT value FROM _counters WHERE name = 'push-failed')
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
            return counts
        }
        guard var counts else { return OutboxCounts() }
        counts.nextDue = try nextPushDue()
        return counts
    }

    /// The earliest due time among the waiting rows (milliseconds since 1970), found without counting them.
    public func nextPushDue() throws -> Int64? {
        let statement = try statement(
            """
            SELECT min(at) FROM (
                SELECT min(next_attempt_at) AS at FROM _push_rows INDEXED BY _push_rows_due
                    WHERE next_attempt_at IS NOT NULL
                UNION ALL SELECT min(due) FROM _push_waiting)
            """)
        return try statement.first { $0.optionalInteger(0) } ?? nil
    }
}
