import ATProto
import CSQLite

extension Transaction {
    /// One writing statement of a hook's; returns the number of changed rows.
    ///
    /// Statements that would end the transaction or touch `_` tables are refused, and so are changes to the definition
    /// of records' tables. Rows that the statement returns are passed over.
    public func run(_ sql: String, _ parameters: [ColumnValue]) throws -> Int {
        try run(sql, parameters, limit: Connection.hookTimeLimit)
    }

    func run(_ sql: String, _ parameters: [ColumnValue], limit: Duration) throws -> Int {
        try checkOpen()
        let before = connection.totalChanges
        return try connection.asHook(.writer, sql, parameters, limit: limit) { statement in
            guard sqlite3_stmt_readonly(statement.handle) == 0 else {
                throw StorageError.misuse("this statement writes nothing: use query", sql: sql)
            }
            while try statement.step() {}
            return Int(connection.totalChanges - before)
        }
    }
}
