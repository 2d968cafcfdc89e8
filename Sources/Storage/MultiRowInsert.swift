import CSQLite

/// An INSERT in two forms, of one row and of many: opening a table and its indexes costs more than a row does.
struct MultiRowInsert {
    /// Rows of the larger form.
    private static let width = 32

    private let one: Statement
    private let many: Statement
    private let shared: Int32
    private let perRow: Int32

    /// - Parameters:
    ///   - head: up to `VALUES`.
    ///   - shared: parameters `?1`, … that all rows share.
    ///   - perRow: parameters that each row has for itself.
    ///   - row: the values of one row, in parentheses, whose own parameters begin behind that number.
    init(
        _ connection: Connection, _ head: String, shared: Int32 = 0, perRow: Int32, row: (Int32) -> String,
        tail: String = ""
    ) throws(StorageError) {
        self.shared = shared
        self.perRow = perRow
        func sql(_ count: Int) -> String {
            let rows = (0..<Int32(count)).map { row(shared + $0 * perRow) }.joined(separator: ", ")
            return "\(head) VALUES \(rows) \(tail)"
        }
        one = try connection.prepare(sql(1))
        many = try connection.prepare(sql(Self.width))
    }

    /// Inserts the rows `rows`, some at a time.
    /// - Parameters:
    ///   - share: binds the shared parameters of a group of rows.
    ///   - bind: binds a row's own, which begin behind the number it is given. What is bound in place must stay until
    ///     the group is inserted.
    ///   - inserted: called for each group of rows with the number of those that were new.
    func run(
        _ rows: Range<Int>, share: (Statement, Range<Int>) -> Void = { _, _ in },
        bind: (Statement, _ behind: Int32, Int) -> Void,
        inserted: (Range<Int>, Int) throws -> Void = { _, _ in }
    ) throws {
        var next = rows.lowerBound
        while next < rows.upperBound {
            let count = rows.upperBound - next >= Self.width ? Self.width : 1
            let statement = count == 1 ? one : many
            share(statement, next..<next + count)
            for row in 0..<count { bind(statement, shared + Int32(row) * perRow, next + row) }
            // Bindings stay: each use makes all of them anew.
            defer { sqlite3_reset(statement.handle) }
            guard sqlite3_step(statement.handle) == SQLITE_DONE else { throw statement.failure }
            try inserted(next..<next + count, statement.changes)
            next += count
        }
    }
}
