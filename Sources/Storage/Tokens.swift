import CSQLite

extension Connection {
    /// The tokens of `did`, or of everybody, by DID and age.
    public func tokens(did: String?) throws -> [PushToken] {
        let statement =
            if did != nil {
                try statement(
                    """
                    SELECT id, did, token, platform, environment, topic, label, locale, createdAt, lastSeenAt,
                        failedAt, failure
                    FROM _push_tokens WHERE did = ? ORDER BY id
                    """)
            } else {
                try statement(
                    """
                    SELECT id, did, token, platform, environment, topic, label, locale, createdAt, lastSeenAt,
                        failedAt, failure
                    FROM _push_tokens ORDER BY did, id
                    """)
            }
        if let did { statement.bind(1, did) }
        var tokens: [PushToken] = []
        try statement.forEachRow { row in
            tokens.append(
                PushToken(
                    id: row.integer(0), did: row.text(1), token: row.text(2), platform: row.text(3),
                    environment: row.text(4), topic: row.optionalText(5), label: row.optionalText(6),
                    locale: row.optionalText(7), createdAt: row.text(8), lastSeenAt: row.text(9),
                    failedAt: row.optionalText(10), failure: row.optionalText(11)))
        }
        return tokens
    }
}

extension Transaction {
    /// An upsert of (did, token): refreshes platform, environment, topic, label, locale, lastSeenAt, and forgets what
    /// the provider held against the token.
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: the token's id, which survives the upsert and is never given to another.
    public func register(_ token: NewPushToken, now: Int64) throws -> Int64 {
        try checkOpen()
        recipients.forget(token.did)
        let time = Timestamp.text(now)
        let statement = try connection.statement(
            """
            UPDATE _push_tokens SET platform = ?3, environment = ?4, topic = ?5, label = ?6, locale = ?7,
                lastSeenAt = ?8, failedAt = NULL, failure = NULL WHERE did = ?1 AND token = ?2 RETURNING id
            """)
        bind(token, time, to: statement)
        if let known = try statement.first({ $0.integer(0) }) { return known }
        let id = try nextTokenID()
        let insert = try connection.statement(
            """
            INSERT INTO _push_tokens
                (did, token, platform, createdAt, environment, topic, label, locale, lastSeenAt, id)
                VALUES (?1, ?2, ?3, ?8, ?4, ?5, ?6, ?7, ?8, ?9)
            """)
        bind(token, time, to: insert)
        insert.bind(9, id)
        try insert.run()
        return id
    }

    /// The same, for a person who may have `limit` devices: those not seen for longest make room for a new one.
    public func register(_ token: NewPushToken, now: Int64, limit: Int) throws -> Int64 {
        let id = try register(token, now: now)
        let statement = try connection.statement(
            """
            SELECT id FROM _push_tokens WHERE did = ?1 AND id <> ?2 ORDER BY lastSeenAt DESC, id DESC LIMIT -1 OFFSET ?3
            """)
        statement.bind(1, token.did)
        statement.bind(2, id)
        statement.bind(3, Int64(max(limit - 1, 0)))
        var surplus: [Int64] = []
        try statement.forEachRow { surplus.append($0.integer(0)) }
        for id in surplus { _ = try removeToken(id: id, did: token.did) }
        return id
    }

    private func bind(_ token: NewPushToken, _ time: String, to statement: Statement) {
        statement.bind(1, token.did)
        statement.bind(2, token.token)
        statement.bind(3, token.platform)
        statement.bind(4, token.environment)
        statement.bind(5, token.topic)
        statement.bind(6, token.label)
        statement.bind(7, token.locale)
        statement.bind(8, time)
    }

    private func nextTokenID() throws -> Int64 {
        let statement = try connection.statement(
            "UPDATE _counters SET value = value + 1 WHERE name = 'token-id' RETURNING value")
        guard let id = try statement.first({ $0.integer(0) }) else {
            throw StorageError.misuse("the counter of token ids is missing")
        }
        return id
    }

    /// Notes the environment in which a token turned out to live, unless it has been registered for another since.
    public func correctEnvironment(token id: Int64, from wrong: String, to right: String) throws {
        try checkOpen()
        let statement = try connection.statement(
            "UPDATE _push_tokens SET environment = ?1 WHERE id = ?2 AND environment = ?3 RETURNING did")
        statement.bind(1, right)
        statement.bind(2, id)
        statement.bind(3, wrong)
        if let did = try statement.first({ $0.text(0) }) { recipients.forget(did) }
    }

    /// Removes the token and settles its waiting rows as removed; those that are being sent keep their outcome.
    /// - Parameter did: when given, only a token of this DID is removed.
    /// - Returns: whether there was such a token.
    public func removeToken(id: Int64, did: String?) throws -> Bool {
        try checkOpen()
        let statement = try connection.statement(
            "DELETE FROM _push_tokens WHERE id = ?1 AND (?2 IS NULL OR did = ?2) RETURNING did")
        statement.bind(1, id)
        statement.bind(2, did)
        guard let owner = try statement.first({ $0.text(0) }) else { return false }
        recipients.forget(owner)
        try settleWaiting(of: id, error: "unregistered", now: Timestamp.now())
        return true
    }

    public func removeToken(did: String, token: String) throws -> Bool {
        try checkOpen()
        let statement = try connection.statement("SELECT id FROM _push_tokens WHERE did = ? AND token = ?")
        statement.bind(1, did)
        statement.bind(2, token)
        guard let id = try statement.first({ $0.integer(0) }) else { return false }
        return try removeToken(id: id, did: did)
    }
}
