import CSQLite
import Glibc

/// The peer: a bare loop over SQLite's C API that inserts the rows of a finished database into an empty one with the
/// same schema and pragmas, in the same order and transactions, and does nothing else.
struct BareInsertLoop {
    private struct Table {
        var sql: String
        /// Bound values of all rows, row after row.
        var cells: [Cell] = []
        var columns = 0
        var rows: Int { columns == 0 ? 0 : cells.count / columns }
    }

    private enum Cell {
        case null
        case integer(Int64)
        case text([UInt8])
        case blob([UInt8])
    }

    private var schema: [String] = []
    private var tables: [Table] = []
    /// Which table's next row comes when.
    private var order: [Int] = []

    var rows: Int { order.count }

    /// Reads all rows of `path` into memory.
    init(rowsOf path: String) throws {
        var handle: OpaquePointer?
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let handle else {
            throw BenchmarkError("cannot open \(path)")
        }
        defer { sqlite3_close_v2(handle) }
        for row in try Self.texts(
            handle, "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite_%'")
        {
            schema.append(row)
        }
        for name in try Self.texts(
            handle, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        {
            tables.append(try Self.load(handle, name))
        }
        order = Self.interleaved(tables.map(\.rows))
    }

    /// Inserts all rows into a new database at `path`, `batch` rows a transaction.
    func run(path: String, batch: Int, pragmas: [String]) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
            throw BenchmarkError("cannot open \(path)")
        }
        defer { sqlite3_close_v2(handle) }
        for statement in pragmas + schema { try Self.execute(handle, statement) }
        var statements: [OpaquePointer?] = []
        for table in tables {
            var statement: OpaquePointer?
            sqlite3_prepare_v3(handle, table.sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            statements.append(statement)
        }
        defer { statements.forEach { sqlite3_finalize($0) } }
        var next = [Int](repeating: 0, count: tables.count)
        for (index, table) in order.enumerated() {
            if index % batch == 0 {
                try Self.execute(handle, index == 0 ? "BEGIN IMMEDIATE" : "COMMIT; BEGIN IMMEDIATE")
            }
            try insert(tables[table], row: next[table], statements[table], handle)
            next[table] += 1
        }
        try Self.execute(handle, "COMMIT")
    }

    @inline(__always)
    private func insert(_ table: Table, row: Int, _ statement: OpaquePointer?, _ handle: OpaquePointer) throws {
        let first = row * table.columns
        for column in 0..<table.columns {
            let index = Int32(column + 1)
            switch table.cells[first + column] {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let value): sqlite3_bind_int64(statement, index, value)
            case .text(let bytes):
                _ = bytes.withUnsafeBytes {
                    sqlite3_bind_text(
                        statement, index, $0.bindMemory(to: CChar.self).baseAddress, Int32($0.count), nil)
                }
            case .blob(let bytes):
                _ = bytes.withUnsafeBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), nil) }
            }
        }
        guard sqlite3_step(statement) == SQLITE_DONE else {
            throw BenchmarkError("bare loop: " + String(cString: sqlite3_errmsg(handle)))
        }
        sqlite3_reset(statement)
    }

    private static func load(_ handle: OpaquePointer, _ name: String) throws -> Table {
        let quoted =
            "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        var statement: OpaquePointer?
        sqlite3_prepare_v2(handle, "SELECT * FROM \(quoted)", -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        let columns = Int(sqlite3_column_count(statement))
        let marks = [String](repeating: "?", count: columns).joined(separator: ",")
        var table = Table(sql: "INSERT INTO \(quoted) VALUES (\(marks))", columns: columns)
        while sqlite3_step(statement) == SQLITE_ROW {
            for column in 0..<Int32(columns) { table.cells.append(cell(statement, column)) }
        }
        return table
    }

    private static func cell(_ statement: OpaquePointer?, _ column: Int32) -> Cell {
        let type = sqlite3_column_type(statement, column)
        if type == SQLITE_NULL { return .null }
        if type == SQLITE_INTEGER { return .integer(sqlite3_column_int64(statement, column)) }
        let bytes = UnsafeRawBufferPointer(
            start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column)))
        return type == SQLITE_TEXT ? .text(Array(bytes)) : .blob(Array(bytes))
    }

    /// Rows of all tables as they came: each table's rows spread evenly over the whole.
    private static func interleaved(_ counts: [Int]) -> [Int] {
        let places = counts.enumerated().flatMap { table, count in
            (0..<count).map { (Double($0) / Double(count), table) }
        }
        return places.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private static func texts(_ handle: OpaquePointer, _ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        var texts: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW { texts.append(String(cString: sqlite3_column_text(statement, 0))) }
        return texts
    }

    private static func execute(_ handle: OpaquePointer, _ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkError("bare loop: " + String(cString: sqlite3_errmsg(handle)))
        }
    }
}
