import ATProto
import CSQLite

extension Transaction {
    /// Writes one row per device of the recipient; a row whose dedupe key is there already is left as it is.
    /// - Returns: how many rows were written.
    func enqueue(_ entry: OutboxEntry, now: Int64) throws -> Int {
        let insert = try connection.statement(
            """
            INSERT INTO _push_queue (dedupe_key, token_id, state, did, hook, uri, rev, payload, collapse_id, priority,
                push_type, attempts, next_attempt_at, created_at, expires_at)
            VALUES (?1, ?2, 'available', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11, ?11, ?12)
            ON CONFLICT (dedupe_key) DO NOTHING
            """)
        let devices = try connection.statement("SELECT id, token FROM _push_tokens WHERE did = ? ORDER BY id")
        devices.bind(1, entry.did)
        defer {
            devices.reset()
            insert.reset()
        }
        var queued = 0
        while try devices.step() {
            // The parameters that the devices share stay bound from one to the next.
            if queued == 0 { bind(entry, now, to: insert) }
            if queued == 0 { dedupe.begin(entry) }
            queued += try insertRow(devices, insert) ? 1 : 0
        }
        return queued
    }

    private func insertRow(_ device: Statement, _ insert: Statement) throws(StorageError) -> Bool {
        sqlite3_bind_int64(insert.handle, 2, device.integer(0))
        let code = dedupe.withBytes(token: device.utf8(1)) { key in
            sqlite3_bind_blob(insert.handle, 1, key.baseAddress, CInt(key.count), nil)
            return sqlite3_step(insert.handle)
        }
        guard code == SQLITE_DONE else { throw insert.failure }
        sqlite3_reset(insert.handle)
        return insert.changes > 0
    }

    private func bind(_ entry: OutboxEntry, _ now: Int64, to statement: Statement) {
        arena.reset(size: entry.textSize)
        statement.bindInPlace(3, arena.copy(entry.did))
        statement.bindInPlace(4, arena.copy(entry.hook))
        statement.bindInPlace(5, arena.copy(entry.uri))
        statement.bindInPlace(6, arena.copy(entry.rev))
        statement.bindInPlace(7, arena.copy(entry.payload))
        if let collapseID = entry.collapseID { statement.bindInPlace(8, arena.copy(collapseID)) }
        statement.bind(9, Int64(entry.priority))
        statement.bindInPlace(10, arena.copy(entry.pushType))
        statement.bind(11, now)
        statement.bind(12, entry.expiresAt)
    }
}

extension OutboxEntry {
    fileprivate var textSize: Int {
        did.utf8.count + hook.utf8.count + uri.utf8.count + rev.utf8.count + payload.count
            + (collapseID?.utf8.count ?? 0) + pushType.utf8.count
    }
}
