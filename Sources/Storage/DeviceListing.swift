/// A registered device as an operator may see it: of the token only its last 8 characters.
public struct DeviceListing: Sendable, Hashable {
    public var id: Int64
    public var did: String
    public var platform: String
    public var environment: String
    public var topic: String?
    public var label: String?
    public var tokenSuffix: String
    /// Times are ISO 8601, UTC.
    public var createdAt: String
    public var lastSeenAt: String
    /// When the provider last found fault with the token, which stays, and its word; nil when all is well.
    public var failedAt: String?
    public var failure: String?
}

extension Connection {
    /// Devices in order of DID, of the accounts whose DID begins with `prefix`. Found in the tokens' own order.
    /// - Parameter place: after which the list begins: a DID, and the id of one of its devices.
    public func devices(didPrefix prefix: String, after place: (did: String, id: Int64) = ("", 0), limit: Int) throws
        -> [DeviceListing]
    {
        let statement = try prepare(
            """
            SELECT id, did, platform, environment, topic, label, \(DeviceToken.suffixSQL("token")), createdAt,
                lastSeenAt, failedAt, failure
            FROM _push_tokens WHERE did >= ?1 AND did < ?2 AND (did, id) > (?3, ?4) ORDER BY did, id LIMIT ?5
            """)
        statement.bind(1, prefix)
        // The last of all characters: behind everything that begins with the prefix.
        statement.bind(2, prefix + "\u{10FFFF}")
        statement.bind(3, place.did)
        statement.bind(4, place.id)
        statement.bind(5, Int64(limit))
        var devices: [DeviceListing] = []
        try statement.forEachRow { row in
            devices.append(
                DeviceListing(
                    id: row.integer(0), did: row.text(1), platform: row.text(2), environment: row.text(3),
                    topic: row.optionalText(4), label: row.optionalText(5), tokenSuffix: row.text(6),
                    createdAt: row.text(7), lastSeenAt: row.text(8), failedAt: row.optionalText(9),
                    failure: row.optionalText(10)))
        }
        return devices
    }

    /// Registered devices, and the accounts that they belong to. A scan.
    public func deviceCounts() throws -> (devices: Int, accounts: Int) {
        let statement = try statement("SELECT count(*), count(DISTINCT did) FROM _push_tokens")
        return try statement.first { (Int($0.integer(0)), Int($0.integer(1))) } ?? (0, 0)
    }
}
