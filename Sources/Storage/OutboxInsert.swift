import ATProto
import CSQLite

extension Transaction {
    /// Queues a notification that no hook job stands behind.
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: its rows, one a device; and, where it made none or not one for each, why.
    public func queue(_ entry: OutboxEntry, now: Int64) throws -> (rows: [OutboxRow], notes: [OutboxNote]) {
        try checkOpen()
        let writes = try enqueue(entry, now: now)
        // They are the newest of all: the scan ends with them.
        let rows = try connection.outboxRows(uri: entry.uri, limit: writes.queued)
        let notes = writes.withoutToken + writes.deduplicated > 0 ? try connection.outboxNotes(uri: entry.uri) : []
        return (rows.reversed(), notes)
    }

    /// Writes one row per device of the recipient; a row whose dedupe key is there already is left as it is.
    func enqueue(_ entry: OutboxEntry, now: Int64) throws -> OutboxWrites {
        let insert = try connection.statement(
            """
            INSERT INTO _push_queue (dedupe_key, token_id, state, did, hook, uri, rev, payload, collapse_id, priority,
                push_type, attempts, next_attempt_at, created_at, expires_at, is_once, badge, lease_until)
            VALUES (?1, ?2, ?15, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?16, ?11, ?12, ?13, ?14, ?17)
            ON CONFLICT (dedupe_key) DO NOTHING
            """)
        // In the order of the primary key, which needs no sorting.
        let devices = try connection.statement(
            """
            SELECT id, token, platform, environment, topic, lastSeenAt,
                EXISTS (SELECT 1 FROM _push_settings WHERE did = ?1)
            FROM _push_tokens WHERE did = ?1 ORDER BY token
            """)
        devices.bind(1, entry.did)
        defer {
            devices.reset()
            insert.reset()
        }
        var writes = OutboxWrites()
        var known = 0
        while try devices.step() {
            if writes.queued + known == 0, devices.integer(6) != 0, try keepBack(entry, now, &writes) { return writes }
            // The parameters that the devices share stay bound from one to the next.
            if writes.queued + known == 0 {
                bind(entry, now, to: insert)
                dedupe.begin(entry)
            }
            if try insertRow(devices, insert, entry, now) { writes.queued += 1 } else { known += 1 }
        }
        if known > 0 {
            writes.deduplicated = 1
            try write(OutboxNote(entry, OutboxNote.deduplicated), now: now)
        } else if writes.queued == 0 {
            writes.withoutToken = 1
            try write(OutboxNote(entry, OutboxNote.noToken), now: now)
        }
        return writes
    }

    /// Notes why the recipient does not want it; false when they do.
    private func keepBack(_ entry: OutboxEntry, _ now: Int64, _ writes: inout OutboxWrites) throws -> Bool {
        guard let objection = try objection(to: entry) else { return false }
        switch objection {
        case .turnedOff: writes.turnedOff = 1
        case .notFollowed, .followsUnknown: writes.notFollowed = 1
        }
        try write(OutboxNote(entry, objection.reason), now: now)
        return true
    }

    /// False when the row was there already.
    private func insertRow(
        _ device: Statement, _ insert: Statement, _ entry: OutboxEntry, _ now: Int64
    ) throws(StorageError) -> Bool {
        let lease = handover.intake?.take(due: now)
        insert.bind(2, device.integer(0))
        insert.bind(15, literal: lease == nil ? "available" : "running")
        insert.bind(16, lease == nil ? now : nil)
        insert.bind(17, lease)
        let connection = connection
        var taken: QueuedPush?
        let code = dedupe.withBytes(token: device.utf8(1)) { key in
            sqlite3_bind_blob(insert.handle, 1, key.baseAddress, CInt(key.count), nil)
            let code = sqlite3_step(insert.handle)
            if code == SQLITE_DONE, lease != nil, insert.changes > 0 {
                taken = QueuedPush(entry, id: connection.lastInsertedRow, device: device, key: key)
            }
            return code
        }
        guard code == SQLITE_DONE else {
            if lease != nil { handover.intake?.giveBack(1) }
            throw insert.failure
        }
        sqlite3_reset(insert.handle)
        let isNew = insert.changes > 0
        if let taken {
            handover.add(taken)
        } else if lease != nil {
            handover.intake?.giveBack(1)
        } else if isNew {
            handover.addWaiting()
        }
        return isNew
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
        if entry.isOnce { statement.bind(13, 1) }
        if let badge = entry.badge { statement.bindInPlace(14, arena.copy(badge)) }
    }
}

extension OutboxEntry {
    fileprivate var textSize: Int {
        did.utf8.count + hook.utf8.count + uri.utf8.count + rev.utf8.count + payload.count
            + (collapseID?.utf8.count ?? 0) + pushType.utf8.count + (badge?.utf8.count ?? 0)
    }
}

extension QueuedPush {
    /// The row that was just written, with the device that it is for.
    fileprivate init(_ entry: OutboxEntry, id: Int64, device: Statement, key: UnsafeRawBufferPointer) {
        self.init(
            id: id, did: entry.did, tokenID: device.integer(0), token: device.text(1), platform: device.text(2),
            environment: device.text(3), topic: device.optionalText(4),
            registeredAt: Timestamp.milliseconds(device.utf8(5)) ?? 0, apnsID: DedupeKey.uuid(key),
            payload: entry.payload, collapseID: entry.collapseID, priority: entry.priority, pushType: entry.pushType,
            expiresAt: entry.expiresAt, attempts: 0, isOnce: entry.isOnce, badge: entry.badge)
    }
}
