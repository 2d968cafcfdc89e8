import CSQLite

/// The statements that write notifications into the outbox, prepared once. Confined to the writer's thread.
struct OutboxStatements {
    let rows: MultiRowInsert
    let messages: MultiRowInsert
    /// The id of the next message. Counted here, so that rows can name it before it is written.
    var nextMessageID: Int64

    init(_ connection: Connection) throws(StorageError) {
        rows = try MultiRowInsert(
            connection,
            """
            INSERT INTO _push_queue (dedupe_key, state, did, token_id, message_id, attempts, next_attempt_at, created_at,
                expires_at)
            """,
            shared: 3, perRow: 5,
            row: { "(?\($0 + 1), ?1, ?\($0 + 2), ?\($0 + 3), ?\($0 + 4), 0, ?2, ?3, ?\($0 + 5))" },
            tail: "ON CONFLICT (dedupe_key) DO NOTHING")
        messages = try MultiRowInsert(
            connection,
            """
            INSERT INTO _push_messages (id, hook, uri, rev, payload, collapse_id, priority, push_type, is_once, badge)
            """,
            perRow: 10, row: { first in "(\((1...10).map { "?\(first + Int32($0))" }.joined(separator: ", ")))" })
        let last = try connection.prepare("SELECT ifnull(max(id), 0) FROM _push_messages")
        guard try last.step() else { throw last.failure }
        nextMessageID = last.integer(0) + 1
    }
}

/// A row that is about to be written.
private struct DraftRow {
    /// Its place among the entries.
    var entry: Int
    var device: PushDevice
    var key: DedupeKey
}

extension Transaction {
    /// Queues a notification that no hook job stands behind.
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: its rows, one a device; and, where it made none or not one for each, why.
    public func queue(_ entry: OutboxEntry, now: Int64) throws -> (rows: [OutboxRow], notes: [OutboxNote]) {
        try checkOpen()
        let writes = try enqueue([entry], now: now)
        // They are the newest of all: the scan ends with them.
        let rows = try connection.outboxRows(uri: entry.uri, limit: writes.queued)
        let notes = writes.haveNotes ? try connection.outboxNotes(uri: entry.uri) : []
        return (rows.reversed(), notes)
    }

    /// Writes one row per device of each recipient, and what all of a notification share once; a row whose dedupe key is
    /// there already is left as it is, and noted.
    func enqueue(_ entries: [OutboxEntry], now: Int64) throws -> OutboxWrites {
        var writes = OutboxWrites()
        var rows: [DraftRow] = []
        rows.reserveCapacity(entries.count)
        for place in entries.indices {
            let recipient = try recipients.recipient(entries[place].did, on: connection)
            if recipient.devices.isEmpty {
                writes.withoutToken += 1
                try write(OutboxNote(entries[place], OutboxNote.noToken), now: now)
                continue
            }
            if recipient.hasSettings, try keepBack(entries[place], now, &writes) { continue }
            dedupe.begin(entries[place])
            for device in recipient.devices {
                rows.append(DraftRow(entry: place, device: device, key: dedupe.key(token: device.token)))
            }
        }
        let ids = try insert(rows, of: entries, now: now)
        try tally(rows, ids, of: entries, now: now, &writes)
        return writes
    }

    /// Notes why the recipient does not want it; false when they do.
    private func keepBack(_ entry: OutboxEntry, _ now: Int64, _ writes: inout OutboxWrites) throws -> Bool {
        guard let objection = try objection(to: entry) else { return false }
        switch objection {
        case .turnedOff: writes.turnedOff += 1
        case .notFollowed, .followsUnknown: writes.notFollowed += 1
        }
        try write(OutboxNote(entry, objection.reason), now: now)
        return true
    }

    /// Writes the rows, as running as far as somebody takes them from here, and their messages.
    /// - Returns: their ids; 0 for those that were there already.
    private func insert(_ rows: [DraftRow], of entries: [OutboxEntry], now: Int64) throws -> [Int64] {
        let (running, lease) = handover.intake?.take(rows.count, due: now) ?? (0, 0)
        var ids = [Int64](repeating: 0, count: rows.count)
        do {
            try insert(rows, 0..<running, .running, of: entries, now: now, &ids)
            try insert(rows, running..<rows.count, .available, of: entries, now: now, &ids)
            try insertMessages(of: entries, rows, ids)
        } catch {
            handover.intake?.giveBack(running)
            throw error
        }
        var taken = 0
        for index in 0..<running where ids[index] > 0 {
            let (row, entry) = (rows[index], rows[index].entry)
            let push = QueuedPush(
                id: ids[index], message: entries[entry].message, device: row.device, key: row.key,
                expiresAt: entries[entry].expiresAt, attempts: 0)
            handover.add(push, until: lease)
            taken += 1
        }
        handover.intake?.giveBack(running - taken)
        if ids[running...].contains(where: { $0 > 0 }) { handover.addWaiting() }
        return ids
    }

    private func insert(
        _ rows: [DraftRow], _ range: Range<Int>, _ state: PushState, of entries: [OutboxEntry], now: Int64,
        _ ids: inout [Int64]
    ) throws {
        guard let outbox else { throw StorageError.misuse("the database is closed") }
        arena.reset(size: range.reduce(0) { $0 + DedupeKey.byteCount + entries[rows[$1].entry].did.utf8.count })
        try outbox.rows.run(range) { statement in
            statement.bind(1, state.rawValue)
            statement.bind(2, state == .running ? nil : now)
            statement.bind(3, now)
        } bind: { statement, behind, index in
            let entry = rows[index].entry
            statement.bindInPlace(behind + 1, blob: rows[index].key.withBytes { arena.copy($0) })
            statement.bindInPlace(behind + 2, arena.copy(entries[entry].did))
            statement.bind(behind + 3, rows[index].device.id)
            statement.bind(behind + 4, outbox.nextMessageID + Int64(entry))
            statement.bind(behind + 5, entries[entry].expiresAt)
        } inserted: { group, count in
            let last = connection.lastInsertedRow
            if count == group.count {
                for (offset, index) in group.enumerated() { ids[index] = last - Int64(count - 1 - offset) }
            } else if count > 0 {
                try findNew(rows, group, after: last - Int64(count), &ids)
            }
        }
    }

    /// Some of `group` were there already: those that are new have ids beyond `id`, each once.
    private func findNew(_ rows: [DraftRow], _ group: Range<Int>, after id: Int64, _ ids: inout [Int64]) throws {
        let find = try connection.statement("SELECT id FROM _push_queue WHERE dedupe_key = ?")
        for index in group {
            rows[index].key.withBytes { find.bind(1, blob: $0) }
            let found = try find.first { $0.integer(0) } ?? 0
            if found > id, !ids[group.lowerBound..<index].contains(found) { ids[index] = found }
        }
    }

    /// Writes the messages that have a new row.
    private func insertMessages(of entries: [OutboxEntry], _ rows: [DraftRow], _ ids: [Int64]) throws {
        var wanted: [Int] = []
        wanted.reserveCapacity(entries.count)
        for index in rows.indices where ids[index] > 0 && wanted.last != rows[index].entry {
            wanted.append(rows[index].entry)
        }
        guard let outbox else { throw StorageError.misuse("the database is closed") }
        let first = outbox.nextMessageID
        self.outbox?.nextMessageID += Int64(entries.count)
        arena.reset(size: wanted.reduce(0) { $0 + entries[$1].textSize })
        try outbox.messages.run(0..<wanted.count) { statement, behind, index in
            let entry = wanted[index]
            let message = entries[entry].message
            statement.bind(behind + 1, first + Int64(entry))
            statement.bindInPlace(behind + 2, arena.copy(entries[entry].hook))
            statement.bindInPlace(behind + 3, arena.copy(entries[entry].uri))
            statement.bindInPlace(behind + 4, arena.copy(entries[entry].rev))
            statement.bindInPlace(behind + 5, arena.copy(message.payload))
            statement.bind(behind + 6, message.collapseID)
            statement.bind(behind + 7, Int64(message.priority))
            statement.bindInPlace(behind + 8, arena.copy(message.pushType))
            statement.bind(behind + 9, message.isOnce ? 1 : nil)
            statement.bind(behind + 10, message.badge)
        }
    }

    /// Counts what became of the rows, and notes the notifications that some device had already.
    private func tally(
        _ rows: [DraftRow], _ ids: [Int64], of entries: [OutboxEntry], now: Int64, _ writes: inout OutboxWrites
    ) throws {
        var lastKnown: Int?
        for (index, id) in ids.enumerated() {
            let entry = rows[index].entry
            if id > 0 {
                writes.queued += 1
            } else if entry != lastKnown {
                lastKnown = entry
                writes.deduplicated += 1
                try write(OutboxNote(entries[entry], OutboxNote.deduplicated), now: now)
            }
        }
    }
}

extension OutboxEntry {
    /// Bytes of what is copied when its message is written.
    fileprivate var textSize: Int {
        hook.utf8.count + uri.utf8.count + rev.utf8.count + message.payload.count + message.pushType.utf8.count
    }
}
