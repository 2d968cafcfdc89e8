import CSQLite

// Which rows are being sent, and until when they are whoever's has them: those in `_push_leases`, whose runs begin and end
// with them. So neither costs a write of the row.

extension Transaction {
    /// Notes that rows have become running.
    func addLeases(_ rows: some Sequence<ClosedRange<Int64>>, until time: Int64) throws(StorageError) {
        try statements().leases.add(rows, time)
    }

    /// Ends the leases of rows.
    /// - Returns: those that had one: the others have ended already, or wait.
    func endLeases(_ ids: [Int64]) throws(StorageError) -> [ClosedRange<Int64>] {
        if ids.isEmpty { return [] }
        return try statements().leases.take(IDRuns(ids))
    }

    /// Lets the leases that end soon last longer: whoever has the rows is at work on them.
    ///
    /// All of them, for a database has one sender, and what another has left is due from the sender's start on. Times in
    /// milliseconds since 1970.
    public func renewLeases(endingBy time: Int64, until end: Int64) throws {
        try checkOpen()
        let statement = try connection.statement("UPDATE _push_leases SET until = ? WHERE until <= ?")
        statement.bind(1, end)
        statement.bind(2, time)
        try statement.run()
    }

    /// Makes the rows due again whose lease has ended.
    /// - Returns: how many they were.
    func releaseLeases(endedBy time: Int64, now: Int64) throws -> Int {
        let ended = try connection.statement("SELECT first, last FROM _push_leases WHERE until <= ?")
        ended.bind(1, time)
        var leases: [ClosedRange<Int64>] = []
        try ended.forEachRow { leases.append($0.integer(0)...$0.integer(1)) }
        if leases.isEmpty { return 0 }
        let release = try connection.statement(
            """
            UPDATE _push_rows SET state = 'retry', next_attempt_at = ? WHERE id BETWEEN ? AND ? AND state = 'running'
            """)
        var released = 0
        for rows in leases {
            release.bind(1, now)
            release.bind(2, rows.lowerBound)
            release.bind(3, rows.upperBound)
            try release.run()
            released += release.changes
        }
        let delete = try connection.statement("DELETE FROM _push_leases WHERE until <= ?")
        delete.bind(1, time)
        try delete.run()
        return released
    }
}
