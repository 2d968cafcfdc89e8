import CSQLite

/// What is known of those to whom notifications go, as it was looked up last: those who are told much are looked up once.
///
/// Confined to the writer's thread. What this connection writes it is told of (`forget`); what others write, and what is
/// rolled back, empties it.
struct RecipientCache {
    /// Never changes.
    final class Recipient {
        let did: String
        /// In order of token.
        let devices: [PushDevice]
        /// There are things that they do not want to hear of.
        let hasSettings: Bool

        init(did: String, devices: [PushDevice], hasSettings: Bool) {
            self.did = did
            self.devices = devices
            self.hasSettings = hasSettings
        }
    }

    /// Recipients at most: some megabytes.
    private static let limit = 20_000

    /// By a hash of the DID: looking for one compares DIDs once, and not with every neighbour. Of two with the same hash
    /// the one asked for last is here.
    private var recipients: [UInt64: Recipient] = [:]
    /// SQLite's number for what other connections have written.
    private var version: Int64 = -1

    mutating func recipient(_ did: String, on connection: Connection) throws -> Recipient {
        let hash = Self.hash(did)
        if let known = recipients[hash], known.did == did { return known }
        let found = try Recipient(did, on: connection)
        if recipients.count >= Self.limit { recipients.removeAll(keepingCapacity: true) }
        recipients[hash] = found
        return found
    }

    mutating func forget(_ did: String) { recipients[Self.hash(did)] = nil }

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

    /// Eight bytes at a time, each time folding the product with an odd number.
    static func hash(_ did: String) -> UInt64 {
        did.utf8.withContiguousStorageIfAvailable { hash(UnsafeRawBufferPointer($0)) }
            ?? Array(did.utf8).withUnsafeBytes { hash($0) }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        func folded(_ word: UInt64) -> UInt64 {
            let (high, low) = word.multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
            return high ^ low
        }
        var hash = UInt64(bytes.count)
        var place = 0
        while bytes.count - place >= 8 {
            hash = folded(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        let rest = bytes[place...].reduce(0) { $0 << 8 | UInt64($1) }
        return folded(hash ^ rest)
    }
}

extension RecipientCache.Recipient {
    /// Looks for them.
    fileprivate convenience init(_ did: String, on connection: Connection) throws {
        // In the order of the primary key, which needs no sorting.
        let statement = try connection.statement(
            """
            SELECT id, token, platform, environment, topic, lastSeenAt,
                EXISTS (SELECT 1 FROM _push_settings WHERE did = ?1)
            FROM _push_tokens WHERE did = ?1 ORDER BY token
            """)
        statement.bind(1, did)
        var devices: [PushDevice] = []
        var hasSettings = false
        try statement.forEachRow { row in
            devices.append(PushDevice(row, at: 0))
            hasSettings = row.integer(6) != 0
        }
        self.init(did: did, devices: devices, hasSettings: hasSettings)
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
