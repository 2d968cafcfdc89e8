import CSQLite

/// What is known of those to whom notifications go, as it was looked up last: those who are told much are looked up once.
///
/// Confined to the writer's thread. What this connection writes it is told of (`forget`); what others write, and what is
/// rolled back, empties it.
struct RecipientCache {
    struct Recipient {
        /// In order of token. That of somebody who has one alone is not looked for in memory of its own.
        private(set) var device: PushDevice?
        private(set) var otherDevices: [PushDevice] = []
        /// There are things that they do not want to hear of.
        var hasSettings = false

        mutating func add(_ found: PushDevice) {
            if device == nil { device = found } else { otherDevices.append(found) }
        }
    }

    /// Recipients at most: some megabytes.
    private static let limit = 20_000

    private var recipients: [ShortText: Recipient] = [:]
    /// Those whose DID is no short text, by its bytes: strings that are canonically equivalent are equal to Swift, but
    /// not to SQL.
    private var others: [[UInt8]: Recipient] = [:]
    /// SQLite's number for what other connections have written.
    private var version: Int64 = -1

    mutating func recipient(_ did: String, on connection: Connection) throws -> Recipient {
        let key = ShortText(did)
        if let known = key.map({ recipients[$0] }) ?? others[Array(did.utf8)] { return known }
        let found = try Recipient(did, on: connection)
        if recipients.count + others.count >= Self.limit {
            recipients.removeAll(keepingCapacity: true)
            others.removeAll()
        }
        if let key { recipients[key] = found } else { others[Array(did.utf8)] = found }
        return found
    }

    mutating func forget(_ did: String) {
        if let key = ShortText(did) { recipients[key] = nil } else { others[Array(did.utf8)] = nil }
    }

    mutating func removeAll() {
        recipients.removeAll()
        others.removeAll()
    }

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

extension RecipientCache.Recipient {
    /// Looks for them.
    fileprivate init(_ did: String, on connection: Connection) throws {
        // In the order of the primary key, which needs no sorting.
        let statement = try connection.statement(
            """
            SELECT id, token, platform, environment, topic, lastSeenAt,
                EXISTS (SELECT 1 FROM _push_settings WHERE did = ?1)
            FROM _push_tokens WHERE did = ?1 ORDER BY token
            """)
        statement.bind(1, did)
        try statement.forEachRow { row in
            add(PushDevice(row, at: 0))
            hasSettings = row.integer(6) != 0
        }
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
