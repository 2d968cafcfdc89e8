import ATProto
import CSQLite

/// A statement with numbered parameters: `$1`, `?1`, or plain `?` by position.
final class HookStatement {
    let sql: String
    let statement: Statement
    /// For each of SQLite's parameters the place among the values. (`$2` may stand before `$1`, and SQLite numbers
    /// them as they come.)
    private let places: [Int]
    private let parameterCount: Int

    init(_ sql: String, on connection: Connection) throws(StorageError) {
        guard !sql.utf8.contains(0) else { throw .misuse("the SQL holds a NUL", sql: sql) }
        self.sql = sql
        statement = try connection.prepare(sql)
        var places: [Int] = []
        for index in 0..<sqlite3_bind_parameter_count(statement.handle) {
            guard let name = sqlite3_bind_parameter_name(statement.handle, index + 1) else {
                places.append(Int(index))
                continue
            }
            guard let number = Int(String(cString: name).dropFirst()), number > 0 else {
                throw .misuse("the parameter \(String(cString: name)) is not numbered: use $1, $2, …", sql: sql)
            }
            places.append(number - 1)
        }
        self.places = places
        parameterCount = (places.max() ?? -1) + 1
    }

    var isReading: Bool { sqlite3_stmt_readonly(statement.handle) != 0 }

    func bind(_ values: [ColumnValue]) throws(StorageError) {
        guard values.count == parameterCount else {
            throw .misuse("the SQL takes \(parameterCount) parameters, not \(values.count)", sql: sql)
        }
        for (index, place) in places.enumerated() { statement.bind(Int32(index + 1), values[place]) }
    }
}

extension Connection {
    /// How long a hook's statement may run.
    static let hookTimeLimit = Duration.seconds(30)

    /// Runs one statement of a hook's; `$1`… are bound in order.
    ///
    /// Writing statements are refused, and so is what takes longer than 30 seconds.
    public func query(
        _ sql: String, _ parameters: [ColumnValue]
    ) throws -> (names: [String], rows: [[ColumnValue]]) {
        try query(sql, parameters, limit: Self.hookTimeLimit)
    }

    /// The same within another limit.
    public func query(
        _ sql: String, _ parameters: [ColumnValue], limit: Duration
    ) throws -> (names: [String], rows: [[ColumnValue]]) {
        try asHook(.reader, sql, parameters, limit: limit) { statement in
            // The first step may prepare the statement anew, for another number of columns.
            var isAtRow = try statement.step()
            let width = sqlite3_column_count(statement.handle)
            let names = (0..<width).map { column in
                sqlite3_column_name(statement.handle, column).map { String(cString: $0) } ?? ""
            }
            var rows: [[ColumnValue]] = []
            while isAtRow {
                rows.append((0..<width).map { statement.value($0) })
                isAtRow = try statement.step()
            }
            return (names, rows)
        }
    }

    /// Prepares (or finds) and binds a hook's statement, and runs `body` under a hook's rights and time limit.
    func asHook<T>(
        _ author: StatementGuard.Author, _ sql: String, _ parameters: [ColumnValue], limit: Duration,
        _ body: (Statement) throws -> T
    ) throws -> T {
        let limitNanoseconds =
            UInt64(limit.components.seconds) * 1_000_000_000
            + UInt64(limit.components.attoseconds / 1_000_000_000)
        state.pointee.author = author
        state.pointee.deadline = StatementGuard.nanoseconds() + limitNanoseconds
        defer {
            state.pointee.author = .hark
            state.pointee.deadline = .max
        }
        do {
            let prepared = try composed.statement(sql) { sql in try HookStatement(sql, on: self) }
            guard author == .writer || prepared.isReading else {
                throw StorageError.misuse("a query may only read: use run", sql: sql)
            }
            defer { prepared.statement.reset() }
            try prepared.bind(parameters)
            return try body(prepared.statement)
        } catch let error as StorageError {
            throw explained(error, author)
        }
    }

    /// What SQLite's terse refusals mean for a hook's author.
    private func explained(_ error: StorageError, _ author: StatementGuard.Author) -> StorageError {
        var error = error
        switch error.code & 0xff {
        case SQLITE_AUTH:
            error.message =
                author == .reader
                ? "a query may only read: use run"
                : "a hook may write records and tables of its own, and nothing else (\(error.message))"
        case SQLITE_INTERRUPT: error.message = "the statement took too long and was stopped"
        default: break
        }
        return error
    }
}
