extension Transaction {
    /// Notes with tokens what providers hold against them, and takes it back from those that have taken a push since.
    func noteTokenFaults(_ results: [PushSettlement], now: Int64) throws {
        guard try results.contains(where: { $0.tokenFault != nil }) || hasFaultyTokens() else { return }
        for result in results {
            if let registeredAt = result.tokenFault {
                try noteFault(of: result, registeredAt: registeredAt, now: now)
            } else if result.outcome == .sent {
                try clearFault(of: result)
            }
        }
    }

    private func hasFaultyTokens() throws -> Bool {
        let statement = try connection.statement(
            "SELECT 1 FROM _push_tokens INDEXED BY _push_tokens_failed WHERE failedAt IS NOT NULL LIMIT 1")
        return try statement.first { _ in true } ?? false
    }

    /// A token that was registered again since is another matter.
    private func noteFault(of result: PushSettlement, registeredAt: Int64, now: Int64) throws {
        let statement = try connection.statement(
            "UPDATE _push_tokens SET failedAt = ?, failure = ? WHERE id = ? AND lastSeenAt = ?")
        statement.bind(1, Timestamp.text(now))
        statement.bind(2, result.error)
        statement.bind(3, result.tokenID)
        statement.bind(4, Timestamp.text(registeredAt))
        try statement.run()
    }

    private func clearFault(of result: PushSettlement) throws {
        let statement = try connection.statement(
            """
            UPDATE _push_tokens INDEXED BY _push_tokens_failed SET failedAt = NULL, failure = NULL
            WHERE id = ? AND failedAt IS NOT NULL
            """)
        statement.bind(1, result.tokenID)
        try statement.run()
    }
}
