import CSQLite

/// An INSERT in forms of several lengths: opening a table and its indexes costs more than a row does.
struct MultiRowInsert {
    /// Rows of each form, the longest first.
    private static let widths = [64, 16, 4, 1]

    private let forms: [(width: Int, statement: Statement)]
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
        var forms: [(Int, Statement)] = []
        for width in Self.widths {
            let rows = (0..<Int32(width)).map { row(shared + $0 * perRow) }.joined(separator: ", ")
            forms.append((width, try connection.prepare("\(head) VALUES \(rows) \(tail)")))
        }
        self.forms = forms
    }

    /// Inserts the rows `rows`, some at a time.
    /// - Parameters:
    ///   - share: binds the shared parameters of a group of rows.
    ///   - bind: binds a row's own, which begin behind the number it is given. What is bound in place must stay until
    ///     the group is inserted.
    ///   - inserted: called for each group of rows with the number of those that were new.
    func run(
        _ rows: Range<Int>, share: (Statement, Range<Int>) -> Void = { _, _ in },
        bind: (Statement, _ behind: Int32, Int) -> Void, inserted: (Range<Int>, Int) throws -> Void = { _, _ in }
    ) throws {
        var next = rows.lowerBound
        for (width, statement) in forms {
            while rows.upperBound - next >= width {
                let group = next..<next + width
                share(statement, group)
                for row in group { bind(statement, shared + Int32(row - next) * perRow, row) }
                // Bindings stay: each use makes all of them anew.
                defer { sqlite3_reset(statement.handle) }
                guard sqlite3_step(statement.handle) == SQLITE_DONE else { throw statement.failure }
                try inserted(group, statement.changes)
                next = group.upperBound
            }
        }
    }
}
