import CSQLite

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

    /// Writes one row per device of each recipient; a row whose dedupe key is there already is left as it is, and noted.
    func enqueue(_ entries: [OutboxEntry], now: Int64) throws -> OutboxWrites {
        var writes = OutboxWrites()
        var rows: [OutboxDraftRow] = []
        rows.reserveCapacity(entries.count)
        for (place, entry) in entries.enumerated() {
            let recipient = try recipients.recipient(entry.did, on: connection)
            guard let device = recipient.device else {
                writes.withoutToken += 1
                try write(OutboxNote(entry, OutboxNote.noToken), now: now)
                continue
            }
            if recipient.hasSettings, try keepBack(entry, now, &writes) { continue }
            dedupe.begin(entry)
            rows.append(OutboxDraftRow(entry: place, device: device, key: dedupe.key(token: device.token)))
            for device in recipient.otherDevices {
                rows.append(OutboxDraftRow(entry: place, device: device, key: dedupe.key(token: device.token)))
            }
        }
        writes.queued = try insert(&rows, of: entries, now: now)
        if writes.queued < rows.count { try noteKnown(rows, of: entries, now: now, &writes) }
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

    /// Writes the rows and gives them their ids. As far as somebody takes them from here they are running, the others wait.
    /// - Returns: how many were new.
    private func insert(_ rows: inout [OutboxDraftRow], of entries: [OutboxEntry], now: Int64) throws -> Int {
        let taker = handover.taker
        let (running, lease) = taker?.take(rows.count, due: now) ?? (0, 0)
        let waiting: [Int64]
        do {
            try write(&rows, of: entries, now: now)
            waiting = rows[running...].compactMap { $0.id > 0 ? $0.id : nil }
            try statements().waiting.add(IDRuns(waiting), now)
        } catch {
            taker?.giveBack(running)
            throw error
        }
        let taken = rows[..<running].count { $0.id > 0 }
        handover.expect(taken)
        for row in rows[..<running] where row.id > 0 {
            let entry = entries[row.entry]
            let push = QueuedPush(
                id: row.id, message: entry.message, device: row.device, key: row.key, expiresAt: entry.expiresAt,
                attempts: 0)
            handover.add(push, until: lease)
        }
        if !waiting.isEmpty { handover.addWaiting() }
        taker?.giveBack(running - taken)
        return taken + waiting.count
    }

    private func write(_ rows: inout [OutboxDraftRow], of entries: [OutboxEntry], now: Int64) throws {
        let insert = try statements().rows
        var texts: OutboxTexts?
        try insert.run(rows.indices) { [arena] statement, group in
            arena.reset(size: rows[group].reduce(0) { $0 + DedupeKey.byteCount + entries[$1.entry].textSize })
            texts = nil
            statement.bind(1, PushState.running.rawValue)
            statement.bind(2, now)
        } bind: { [arena] statement, behind, index in
            let place = rows[index].entry
            if texts?.entry != place { texts = OutboxTexts(entries[place], at: place, in: arena) }
            statement.bindInPlace(behind + 1, blob: rows[index].key.withBytes { arena.copy($0) })
            statement.bind(behind + 2, rows[index].device.id)
            texts?.bind(to: statement, behind: behind + 2)
        } inserted: { group, count in
            let last = connection.lastInsertedRow
            if count == group.count {
                for index in group { rows[index].id = last - Int64(group.upperBound - 1 - index) }
            } else if count > 0 {
                try findNew(&rows, group, after: last - Int64(count))
            }
        }
    }

    /// Some of `group` were there already: those that are new have ids beyond `id`, each once.
    private func findNew(_ rows: inout [OutboxDraftRow], _ group: Range<Int>, after id: Int64) throws {
        let find = try connection.statement("SELECT id FROM _push_rows WHERE dedupe_key = ?")
        for index in group {
            rows[index].key.withBytes { find.bind(1, blob: $0) }
            let found = try find.first { $0.integer(0) } ?? 0
            if found > id, !rows[group.lowerBound..<index].contains(where: { $0.id == found }) {
                rows[index].id = found
            }
        }
    }

    /// Notes the notifications that some device had already.
    private func noteKnown(
        _ rows: [OutboxDraftRow], of entries: [OutboxEntry], now: Int64, _ writes: inout OutboxWrites
    ) throws {
        var lastKnown: Int?
        for row in rows where row.id == 0 && row.entry != lastKnown {
            lastKnown = row.entry
            writes.deduplicated += 1
            try write(OutboxNote(entries[row.entry], OutboxNote.deduplicated), now: now)
        }
    }
}
