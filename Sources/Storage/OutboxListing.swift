import ATProto

/// A row of the outbox as an operator may see it: of the token only its last 8 characters.
public struct OutboxRow: Sendable, Hashable {
    public var id: Int64
    /// `available`, `running`, `retry`, `sent`, `dead`, `expired`, `removed` or `dropped`.
    public var state: String
    public var did: String
    public var hook: String
    public var uri: String
    public var rev: String
    /// nil when the device is gone.
    public var tokenSuffix: String?
    public var environment: String?
    public var attempts: Int
    /// The provider's word or ours; nil when there is nothing to say.
    public var error: String?
    /// Times are ISO 8601, UTC.
    public var createdAt: String
    public var expiresAt: String
    public var nextAttemptAt: String?
    public var sentAt: String?
    public var failedAt: String?
    public var apnsID: String

    public static let states = ["available", "running", "retry", "sent", "dead", "expired", "removed", "dropped"]
}

extension OutboxRow {
    /// The columns that a row is read from.
    fileprivate static let columns = """
        q.id, q.state, q.did, q.hook, q.uri, q.rev, \(DeviceToken.suffixSQL("t.token")), t.environment, q.attempts,
        q.last_error, q.created_at, q.expires_at, q.next_attempt_at, q.sent_at, q.failed_at, q.dedupe_key
        """

    /// What they are of: the rows and, where it is still there, the device of each.
    fileprivate static let source = "_push_queue AS q LEFT JOIN _push_tokens AS t ON t.id = q.token_id"

    fileprivate init(_ row: Statement) {
        func time(_ column: Int32) -> String? { row.optionalInteger(column).map { Timestamp.text($0) } }
        self.init(
            id: row.integer(0), state: row.text(1), did: row.text(2), hook: row.text(3), uri: row.text(4),
            rev: row.text(5), tokenSuffix: row.optionalText(6), environment: row.optionalText(7),
            attempts: Int(row.integer(8)), error: row.optionalText(9), createdAt: Timestamp.text(row.integer(10)),
            expiresAt: Timestamp.text(row.integer(11)), nextAttemptAt: time(12), sentAt: time(13), failedAt: time(14),
            apnsID: DedupeKey(row.blob(15)).uuid)
    }
}

/// What the database knows of a record.
public struct RecordTrace: Sendable, Hashable {
    /// nil when it is not stored.
    public var rev: String?
    public var indexedAt: String?
    /// The rev of its deletion, when one is remembered.
    public var deletedIn: String?
    /// Its hooks have not come to their end.
    public var isPending = false
}

extension Connection {
    /// Rows of the outbox, the newest first. A scan: settled rows have no index but their id's.
    public func outboxRows(
        state: String? = nil, did: String? = nil, uri: String? = nil, ids: ClosedRange<Int64> = 0...(.max), limit: Int
    ) throws -> [OutboxRow] {
        let statement = try prepare(
            """
            SELECT \(OutboxRow.columns) FROM \(OutboxRow.source)
            WHERE (?1 IS NULL OR q.state = ?1) AND (?2 IS NULL OR q.did = ?2) AND (?3 IS NULL OR q.uri = ?3)
                AND q.id BETWEEN ?5 AND ?6
            ORDER BY q.id DESC LIMIT ?4
            """)
        statement.bind(1, state)
        statement.bind(2, did)
        statement.bind(3, uri)
        statement.bind(4, Int64(limit))
        statement.bind(5, ids.lowerBound)
        statement.bind(6, ids.upperBound)
        var rows: [OutboxRow] = []
        try statement.forEachRow { rows.append(OutboxRow($0)) }
        return rows
    }

    /// Dead rows, the newest first, those with a smaller id than `id` where it is given. Found in their index.
    public func deadLetters(before id: Int64? = nil, limit: Int) throws -> [OutboxRow] {
        let statement = try prepare(
            """
            SELECT \(OutboxRow.columns) FROM \(OutboxRow.source) WHERE q.id IN (
                SELECT id FROM _push_rows INDEXED BY _push_rows_dead WHERE state = 'dead' AND id < ?1
                ORDER BY id DESC LIMIT ?2)
            ORDER BY q.id DESC
            """)
        statement.bind(1, id ?? .max)
        statement.bind(2, Int64(limit))
        var rows: [OutboxRow] = []
        try statement.forEachRow { rows.append(OutboxRow($0)) }
        return rows
    }

    /// Rows that wait, those that are due first before the others. Found in their index and among the runs.
    public func waitingPushes(limit: Int) throws -> [OutboxRow] {
        let statement = try prepare(
            """
            SELECT \(OutboxRow.columns) FROM \(OutboxRow.source) WHERE q.id IN (
                SELECT id FROM (
                    SELECT id FROM _push_rows INDEXED BY _push_rows_due WHERE next_attempt_at IS NOT NULL
                    ORDER BY next_attempt_at LIMIT ?1)
                UNION ALL SELECT id FROM (
                    SELECT r.id FROM (SELECT first, last, due FROM _push_waiting ORDER BY due LIMIT ?1) AS w
                        CROSS JOIN _push_rows AS r ON r.id BETWEEN w.first AND w.last
                    ORDER BY w.due, r.id LIMIT ?1))
            ORDER BY q.next_attempt_at, q.id LIMIT ?1
            """)
        statement.bind(1, Int64(limit))
        var rows: [OutboxRow] = []
        try statement.forEachRow { rows.append(OutboxRow($0)) }
        return rows
    }

    /// One row of the outbox; nil when it is not there any more.
    public func outboxRow(id: Int64) throws -> OutboxRow? { try outboxRows(ids: id...id, limit: 1).first }

    /// Why sends of a record's hooks made no row, in order of time. A scan.
    public func outboxNotes(uri: String) throws -> [OutboxNote] {
        let statement = try statement("SELECT hook, did, reason, at FROM _push_notes WHERE uri = ? ORDER BY id")
        statement.bind(1, uri)
        var notes: [OutboxNote] = []
        try statement.forEachRow { row in
            var note = OutboxNote(uri: uri, hook: row.text(0), did: row.optionalText(1), reason: row.text(2))
            note.time = row.integer(3)
            notes.append(note)
        }
        return notes
    }

    /// What is known of the record at `uri`.
    public func trace(of uri: String, collection: String) throws -> RecordTrace {
        var trace = RecordTrace()
        if let table = try TableDefinition(self).name(of: collection) {
            let statement = try prepare("SELECT rev, indexed_at FROM \(quoted(table)) WHERE uri = ?")
            statement.bind(1, uri)
            try statement.forEachRow { row in
                trace.rev = row.text(0)
                trace.indexedAt = row.text(1)
            }
        }
        let deletion = try statement("SELECT rev FROM _deletions WHERE uri = ?")
        deletion.bind(1, uri)
        trace.deletedIn = try deletion.first { $0.text(0) }
        let job = try statement("SELECT 1 FROM _hook_jobs WHERE uri = ? LIMIT 1")
        job.bind(1, uri)
        trace.isPending = try job.first { _ in true } ?? false
        return trace
    }
}
