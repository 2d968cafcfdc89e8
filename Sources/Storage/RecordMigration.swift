import ATProto
import CSQLite

extension RecordSchema {
    /// Rows that are filled in one transaction.
    private static let rowsPerStep = 1000

    /// Creates missing tables and adds missing columns (filled from the JSON) for all collections with a lexicon.
    ///
    /// What a crash interrupts, the next call takes up. Columns of properties that the lexicon no longer has stay.
    /// - Returns: a line for each property that could not get a column (its name is taken), for `emit`.
    public func migrate(_ database: Database) throws -> [String] {
        let tables = described
        try database.writeBlocking { transaction in
            let definition = TableDefinition(transaction.connection)
            for table in tables { try definition.establish(table) }
        }
        for table in tables {
            while try database.writeBlocking({ try Backfill(table, $0.connection).step(Self.rowsPerStep) }) {}
            try database.writeBlocking { try TableDefinition($0.connection).addIndexes(table) }
        }
        return tables.flatMap { table in
            table.layout.unplaced.map { property in
                "\(table.collection): the property \(property) has no column, since its name is taken; it is in record"
            }
        }
    }
}

/// Fills columns that a table got after its rows.
private struct Backfill {
    private let table: RecordTable
    private let connection: Connection

    init(_ table: RecordTable, _ connection: Connection) {
        self.table = table
        self.connection = connection
    }

    /// Fills the next rows, in order of uri. False when there was nothing to do.
    func step(_ limit: Int) throws -> Bool {
        guard let start = try filledTo() else { return false }
        let select = try connection.prepare(
            "SELECT uri, record FROM \(quoted(table.name)) WHERE uri > ? ORDER BY uri LIMIT \(limit)")
        select.bind(1, start)
        var rows: [(uri: String, record: [UInt8])] = []
        try select.forEachRow { rows.append(($0.text(0), [UInt8]($0.utf8(1)))) }
        let assignments = table.layout.columns.map { "\(quoted($0.name)) = ?" }.joined(separator: ", ")
        let update = try connection.prepare("UPDATE \(quoted(table.name)) SET \(assignments) WHERE uri = ?")
        for row in rows {
            // What is not the protocol's JSON was not written by Hark, and keeps its empty columns.
            guard let record = try? JSON.decode(row.record) else { continue }
            let values = table.columns(of: record)
            for (index, value) in values.enumerated() { update.bind(Int32(index + 1), value) }
            update.bind(Int32(values.count + 1), row.uri)
            try update.run()
        }
        try setFilledTo(rows.count < limit ? nil : rows.last?.uri)
        return true
    }

    private func filledTo() throws -> String? {
        let statement = try connection.statement("SELECT filled_to FROM _collections WHERE nsid = ?")
        statement.bind(1, table.collection)
        return try statement.first { $0.optionalText(0) } ?? nil
    }

    private func setFilledTo(_ uri: String?) throws {
        let statement = try connection.statement("UPDATE _collections SET filled_to = ? WHERE nsid = ?")
        statement.bind(1, uri)
        statement.bind(2, table.collection)
        try statement.run()
    }
}
