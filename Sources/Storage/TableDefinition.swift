import CSQLite

/// Creates and extends records' tables. Confined to the writer's thread, inside a transaction.
struct TableDefinition {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Makes sure that the table is there with all its columns, and settles its name.
    ///
    /// Columns that a table with rows lacked are empty at first: `filled_to` says that they are to be filled.
    func establish(_ table: RecordTable) throws(StorageError) {
        if let name = try name(of: table.collection) {
            table.name = name
            try addMissingColumns(table, name)
        } else {
            let name = try freeName(for: table.collection)
            try create(table, name)
            let insert = try connection.statement("INSERT INTO _collections (nsid, table_name) VALUES (?, ?)")
            insert.bind(1, table.collection)
            insert.bind(2, name)
            try insert.run()
            table.name = name
        }
    }

    /// Indexes what the lexicon wants indexed.
    func addIndexes(_ table: RecordTable) throws(StorageError) {
        for column in table.layout.columns where column.isIndexed {
            let index = quoted("\(table.name)/\(column.name)")
            try connection.execute(
                "CREATE INDEX IF NOT EXISTS \(index) ON \(quoted(table.name)) (\(quoted(column.name)))")
        }
    }

    /// The name of the collection's table, nil when it has none.
    func name(of collection: String) throws(StorageError) -> String? {
        let statement = try connection.statement("SELECT table_name FROM _collections WHERE nsid = ?")
        defer { statement.reset() }
        statement.bind(1, collection)
        return try statement.step() ? statement.text(0) : nil
    }

    /// The NSID, or with a number behind it when another table has that name: SQLite's names know no case.
    private func freeName(for collection: String) throws(StorageError) -> String {
        var name = collection
        var number = 1
        while try isTaken(name) {
            number += 1
            name = "\(collection)~\(number)"
        }
        return name
    }

    private func isTaken(_ name: String) throws(StorageError) -> Bool {
        let statement = try connection.statement("SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE")
        defer { statement.reset() }
        statement.bind(1, name)
        return try statement.step()
    }

    private func create(_ table: RecordTable, _ name: String) throws(StorageError) {
        let columns = table.layout.columns.map { ", \(quoted($0.name)) \($0.type)" }.joined()
        try connection.execute(
            """
            CREATE TABLE \(quoted(name)) (uri TEXT PRIMARY KEY NOT NULL, cid TEXT, did TEXT NOT NULL, \
            rkey TEXT NOT NULL, rev TEXT NOT NULL, indexed_at TEXT NOT NULL, record TEXT NOT NULL\(columns))
            """)
        table.name = name
        try addIndexes(table)
    }

    private func addMissingColumns(_ table: RecordTable, _ name: String) throws(StorageError) {
        let present = try columns(of: name)
        let missing = table.layout.columns.filter { !present.contains($0.name.lowercased()) }
        guard !missing.isEmpty else { return }
        for column in missing {
            try connection.execute("ALTER TABLE \(quoted(name)) ADD COLUMN \(quoted(column.name)) \(column.type)")
        }
        let mark = try connection.statement("UPDATE _collections SET filled_to = '' WHERE nsid = ?")
        mark.bind(1, table.collection)
        try mark.run()
    }

    private func columns(of name: String) throws(StorageError) -> Set<String> {
        let statement = try connection.statement("SELECT name FROM pragma_table_info(?)")
        defer { statement.reset() }
        statement.bind(1, name)
        var names: Set<String> = []
        while try statement.step() { names.insert(statement.text(0).lowercased()) }
        return names
    }
}
