/// How far a sweep of the outbox has come.
public struct OutboxSweep: Sendable, Hashable {
    /// Rows up to this id have been looked at.
    var row: Int64 = 0
    public internal(set) var isDone = false
    /// Rows and notes deleted.
    public internal(set) var removed = 0

    public init() {}
}

extension Transaction {
    /// One step of a sweep: deletes rows that ended, and notes that were made, before `time` (milliseconds since 1970).
    ///
    /// Looks at `limit` rows and as many notes at most, the oldest first, and needs no index for it: what was queued since
    /// `time` has not ended before it.
    /// - Parameter noteLimit: how many notes are kept at most.
    public func sweep(
        _ sweep: OutboxSweep, before time: Int64, limit: Int, noteLimit: Int = OutboxNote.limit
    ) throws -> OutboxSweep {
        try checkOpen()
        var sweep = sweep
        let ended = try endedRows(&sweep, before: time, limit: limit)
        if !ended.isEmpty { try deleteRows(ended) }
        let notes = try sweepNotes(before: time, limit: limit, keeping: noteLimit)
        sweep.removed += ended.count + notes
        if notes == limit { sweep.isDone = false }
        return sweep
    }

    /// Deletes rows, and with them that they were sent: their ids may be given to others.
    private func deleteRows(_ ids: [Int64]) throws {
        let delete = try connection.statement("DELETE FROM _push_rows WHERE id BETWEEN ? AND ?")
        for run in IDRuns(ids) {
            delete.bind(1, run.lowerBound)
            delete.bind(2, run.upperBound)
            try delete.run()
        }
        _ = try statements().sent.take(IDRuns(ids))
    }

    private func endedRows(_ sweep: inout OutboxSweep, before time: Int64, limit: Int) throws -> [Int64] {
        let statement = try connection.statement(
            "SELECT id, created_at, ifnull(sent_at, failed_at) FROM _push_queue WHERE id > ? ORDER BY id LIMIT ?")
        statement.bind(1, sweep.row)
        statement.bind(2, Int64(limit))
        var ended: [Int64] = []
        var seen = 0
        var isPast = false
        try statement.forEachRow { row in
            guard !isPast else { return }
            guard row.integer(1) < time else {
                isPast = true
                return
            }
            seen += 1
            sweep.row = row.integer(0)
            if let end = row.optionalInteger(2), end < time { ended.append(row.integer(0)) }
        }
        sweep.isDone = seen < limit
        return ended
    }

    private func sweepNotes(before time: Int64, limit: Int, keeping noteLimit: Int) throws(StorageError) -> Int {
        let statement = try connection.statement(
            """
            DELETE FROM _push_notes WHERE id IN (SELECT id FROM _push_notes ORDER BY id LIMIT ?2)
                AND (at < ?1 OR id <= (SELECT max(id) FROM _push_notes) - ?3)
            """)
        statement.bind(1, time)
        statement.bind(2, Int64(limit))
        statement.bind(3, Int64(noteLimit))
        try statement.run()
        return statement.changes
    }
}
