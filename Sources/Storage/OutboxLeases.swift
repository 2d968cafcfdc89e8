import CSQLite

// Which rows are running, and until when they are whoever's has them: `_push_leases` holds runs of rows that became
// running in one transaction, so that neither starting nor ending a row costs an index entry. A run stays until none of
// its rows is running any more, or its time is over.

extension Transaction {
    /// Notes that rows have become running.
    func addLeases(_ runs: IDRuns, until time: Int64) throws(StorageError) {
        let insert = try connection.statement("INSERT INTO _push_leases (first, last, until) VALUES (?, ?, ?)")
        for run in runs {
            insert.bind(1, run.lowerBound)
            insert.bind(2, run.upperBound)
            insert.bind(3, time)
            try insert.run()
        }
    }

    /// Makes the rows that are still running due again whose lease has ended.
    /// - Returns: how many they were.
    func releaseLeases(endedBy time: Int64, now: Int64) throws -> Int {
        let ended = try connection.statement("SELECT id, first, last FROM _push_leases WHERE until <= ?")
        ended.bind(1, time)
        var leases: [(id: Int64, rows: ClosedRange<Int64>)] = []
        try ended.forEachRow { leases.append(($0.integer(0), $0.integer(1)...$0.integer(2))) }
        if leases.isEmpty { return 0 }
        let release = try connection.statement(
            """
            UPDATE _push_queue SET state = 'retry', next_attempt_at = ? WHERE id BETWEEN ? AND ? AND state = 'running'
            """)
        let delete = try connection.statement("DELETE FROM _push_leases WHERE id = ?")
        var released = 0
        for lease in leases {
            release.bind(1, now)
            release.bind(2, lease.rows.lowerBound)
            release.bind(3, lease.rows.upperBound)
            try release.run()
            released += release.changes
            delete.bind(1, lease.id)
            try delete.run()
        }
        return released
    }

    /// Drops the oldest leases whose rows have all ended: those that are left are few, for rows end much as they begin.
    func dropEndedLeases() throws(StorageError) {
        let drop = try connection.statement(
            """
            DELETE FROM _push_leases WHERE id = (SELECT min(id) FROM _push_leases) AND NOT EXISTS (
                SELECT 1 FROM _push_queue WHERE _push_queue.id BETWEEN first AND last AND state = 'running')
            """)
        repeat { try drop.run() } while drop.changes > 0
    }
}
