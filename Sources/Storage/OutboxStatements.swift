import CSQLite

/// The statements that write the outbox most, prepared once. Confined to the writer's thread.
final class OutboxStatements {
    let rows: MultiRowInsert
    let waiting: RowRuns
    let leases: RowRuns
    let sent: RowRuns

    init(_ connection: Connection) throws(StorageError) {
        rows = try MultiRowInsert(
            connection,
            """
            INSERT INTO _push_rows (dedupe_key, state, token_id, attempts, created_at, did, hook, uri, rev, payload,
                push_type, collapse_id, badge, expires_at, priority, is_once)
            """,
            shared: 2, perRow: 13,
            row: { behind in
                let own = (3...13).map { "?\(behind + Int32($0))" }.joined(separator: ", ")
                return "(?\(behind + 1), ?1, ?\(behind + 2), 0, ?2, \(own))"
            },
            tail: "ON CONFLICT (dedupe_key) DO NOTHING")
        waiting = try RowRuns(connection, table: "_push_waiting", value: "due")
        leases = try RowRuns(connection, table: "_push_leases", value: "until")
        sent = try RowRuns(connection, table: "_push_sent", value: "at")
    }
}

extension Transaction {
    func statements() throws(StorageError) -> OutboxStatements {
        guard let outbox else { throw .misuse("the database is closed") }
        return outbox
    }
}

/// A row that is about to be written.
struct OutboxDraftRow {
    /// Its place among the entries.
    let entry: Int
    let device: PushDevice
    let key: DedupeKey
    /// 0 until it is written, and when it was there already.
    var id: Int64 = 0
}

/// What all rows of a notification have in common, in the arena: for several devices it is copied there once.
struct OutboxTexts {
    /// The entry's place among the entries.
    let entry: Int
    private let did, hook, uri, rev, payload, pushType: UnsafeBufferPointer<CChar>
    private let collapseID, badge: UnsafeBufferPointer<CChar>?
    private let expiresAt: Int64
    private let priority: Int
    private let isOnce: Bool

    /// - Parameter place: the entry's place among the entries.
    init(_ entry: OutboxEntry, at place: Int, in arena: TextArena) {
        let message = entry.message
        self.entry = place
        did = arena.copy(message.did)
        hook = arena.copy(entry.hook)
        uri = arena.copy(entry.uri)
        rev = arena.copy(entry.rev)
        payload = arena.copy(message.payload)
        pushType = arena.copy(message.pushType)
        collapseID = message.collapseID.map { arena.copy($0) }
        badge = message.badge.map { arena.copy($0) }
        expiresAt = entry.expiresAt
        priority = message.priority
        isOnce = message.isOnce
    }

    /// Binds them in place to the parameters behind number `behind`, in the order of `OutboxStatements`.
    func bind(to statement: Statement, behind: Int32) {
        statement.bindInPlace(behind + 1, did)
        statement.bindInPlace(behind + 2, hook)
        statement.bindInPlace(behind + 3, uri)
        statement.bindInPlace(behind + 4, rev)
        statement.bindInPlace(behind + 5, payload)
        statement.bindInPlace(behind + 6, pushType)
        statement.bindInPlace(behind + 7, collapseID)
        statement.bindInPlace(behind + 8, badge)
        statement.bind(behind + 9, expiresAt)
        statement.bind(behind + 10, Int64(priority))
        statement.bind(behind + 11, isOnce ? 1 : nil)
    }
}

extension OutboxEntry {
    /// Bytes of what is copied when it is written.
    @inline(__always)
    var textSize: Int {
        message.did.utf8.count + hook.utf8.count + uri.utf8.count + rev.utf8.count + message.payload.count
            + message.pushType.utf8.count + (message.collapseID?.utf8.count ?? 0) + (message.badge?.utf8.count ?? 0)
    }
}
