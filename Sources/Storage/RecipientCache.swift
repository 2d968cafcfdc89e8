import CSQLite

/// What is known of those to whom notifications go, as it was looked up last: those who are told much are looked up once.
///
/// Confined to the writer's thread. What this connection writes it is told of (`forget`); what others write, and what is
/// rolled back, empties it.
struct RecipientCache {
    struct Recipient {
        /// In order of token.
        var devices: [PushDevice] = []
        /// There are things that they do not want to hear of.
        var hasSettings = false
    }

    /// Recipients at most: some megabytes.
    private static let limit = 20_000

    private var recipients: [String: Recipient] = [:]
    /// SQLite's number for what other connections have written.
    private var version: Int64 = -1

    mutating func recipient(_ did: String, on connection: Connection) throws -> Recipient {
        if let known = recipients[did] { return known }
        // In the order of the primary key, which needs no sorting.
        let statement = try connection.statement(
            """
            SELECT id, token, platform, environment, topic, lastSeenAt,
                EXISTS (SELECT 1 FROM _push_settings WHERE did = ?1)
            FROM _push_tokens WHERE did = ?1 ORDER BY token
            """)
        statement.bind(1, did)
        var found = Recipient()
        try statement.forEachRow { row in
            found.devices.append(PushDevice(row, at: 0))
            found.hasSettings = row.integer(6) != 0
        }
        if recipients.count >= Self.limit { recipients.removeAll(keepingCapacity: true) }
        recipients[did] = found
        return found
    }

    mutating func forget(_ did: String) { recipients[did] = nil }

    mutating func removeAll() { recipients.removeAll() }

    /// Called when a transaction has begun: nobody else writes until it ends.
    mutating func transactionBegan(on connection: Connection) throws(StorageError) {
        let statement = try connection.statement("PRAGMA data_version")
        defer { statement.reset() }
        guard try statement.step() else { throw statement.failure }
        let now = statement.integer(0)
        if now != version { removeAll() }
        version = now
    }
}

extension PushDevice {
    /// From six columns: id, token, platform, environment, topic, lastSeenAt.
    convenience init(_ row: Statement, at column: Int32) {
        self.init(
            id: row.integer(column), token: row.text(column + 1), platform: row.text(column + 2),
            environment: row.text(column + 3), topic: row.optionalText(column + 4),
            registeredAt: Timestamp.milliseconds(row.utf8(column + 5)) ?? 0)
    }
}
