import ATProto
import CSQLite

/// The writer's prepared statements for records' tables, found by the table's slot. Confined to the writer's thread.
final class RecordStatements {
    /// Tables whose statements are kept; with more in use all are made anew.
    private static let limit = 512

    private let connection: Connection
    private var kept: [TableStatements?] = []
    private var count = 0
    /// Slots filled in this transaction: with a rollback their tables or columns may be gone again.
    private var fresh: [Int] = []

    init(_ connection: Connection) { self.connection = connection }

    /// The statements of `table`, which is created where it is missing.
    @inline(__always)
    func statements(for table: RecordTable) throws(StorageError) -> TableStatements {
        if table.slot < kept.count, let known = kept[table.slot], known.table === table { return known }
        return try make(table)
    }

    /// The statements of `table` if it exists.
    func existingStatements(for table: RecordTable) throws(StorageError) -> TableStatements? {
        if table.slot < kept.count, let known = kept[table.slot], known.table === table { return known }
        return try TableDefinition(connection).name(of: table.collection) == nil ? nil : make(table)
    }

    private func make(_ table: RecordTable) throws(StorageError) -> TableStatements {
        try TableDefinition(connection).establish(table)
        let made = try TableStatements(table, connection)
        if count >= Self.limit { removeAll() }
        while kept.count <= table.slot { kept.append(nil) }
        if kept[table.slot] == nil { count += 1 }
        kept[table.slot] = made
        fresh.append(table.slot)
        return made
    }

    // MARK: Transactions

    /// How many were made in this transaction so far.
    var mark: Int { fresh.count }

    /// Drops those made after `mark`: what they rest on was rolled back.
    func forget(from mark: Int) {
        guard mark < fresh.count else { return }
        for slot in fresh[mark...] where slot < kept.count && kept[slot] != nil {
            kept[slot] = nil
            count -= 1
        }
        fresh.removeSubrange(mark...)
    }

    func committed() { fresh.removeAll(keepingCapacity: true) }

    func removeAll() {
        kept.removeAll()
        count = 0
    }
}

/// The statements of one table.
final class TableStatements {
    let table: RecordTable
    /// Inserts or replaces a row unless the one there is as new; binds the base columns in order, then the others.
    private let put: Statement
    private let delete: Statement
    private let find: Statement

    init(_ table: RecordTable, _ connection: Connection) throws(StorageError) {
        self.table = table
        let name = quoted(table.name)
        let columns = RecordColumns.base + table.layout.columns.map { quoted($0.name) }
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let changing = columns.filter { !["uri", "did", "rkey"].contains($0) }
            .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        put = try connection.prepare(
            """
            INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(marks)) \
            ON CONFLICT (uri) DO UPDATE SET \(changing) WHERE excluded.rev > \(name).rev
            """)
        delete = try connection.prepare("DELETE FROM \(name) WHERE uri = ? AND rev < ?")
        find = try connection.prepare("SELECT 1 FROM \(name) WHERE uri = ?")
    }

    /// False when the row that is there is as new.
    func putRow(_ row: RowImage, _ indexedAt: UnsafeBufferPointer<UInt8>) throws(StorageError) -> Bool {
        defer { put.reset() }
        _ = try put.step(over: row) { row, memory in
            memory.bind(1, row.uri)
            if !row.cid.isEmpty { memory.bind(2, row.cid) }
            memory.bind(3, row.did)
            memory.bind(4, row.rkey)
            memory.bind(5, row.rev)
            memory.bind(6, indexedAt)
            memory.bind(7, row.json)
            var parameter = Int32(RecordColumns.base.count)
            for cell in row.cells {
                parameter += 1
                memory.bind(parameter, cell)
            }
        }
        return put.changes > 0
    }

    /// False when there is no such row or it is as new.
    func deleteRow(_ row: RowImage) throws(StorageError) -> Bool {
        defer { delete.reset() }
        _ = try delete.step(over: row) { row, memory in
            memory.bind(1, row.uri)
            memory.bind(2, row.rev)
        }
        return delete.changes > 0
    }

    func hasRow(_ row: RowImage) throws(StorageError) -> Bool {
        defer { find.reset() }
        return try find.step(over: row) { row, memory in memory.bind(1, row.uri) }
    }
}
