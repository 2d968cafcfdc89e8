import ATProto
import Testing

@testable import Storage

@Suite struct HookSQLTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        let schema = makeSchema()
        try database.apply(
            change(schema, .create, "app.example.post", "1", rev: "a", map([:])),
            change(schema, .create, "app.example.post", "2", rev: "b", map([:])))
        try database.writeBlocking { _ = try $0.run("CREATE TABLE notes (a, b)", []) }
    }

    @discardableResult
    private func run(_ sql: String, _ parameters: [ColumnValue] = []) throws -> Int {
        try database.writeBlocking { try $0.run(sql, parameters) }
    }

    @Test func parametersGoByTheirNumber() throws {
        let values: [ColumnValue] = [.text("one\0"), .integer(2), .real(0.5), .blob([]), .null]
        #expect(
            try database.rows("SELECT $2, $1, $5, $4, $3, $1", values) == [
                [values[1], values[0], values[4], values[3], values[2], values[0]]
            ])
        #expect(try database.rows("SELECT ?, ?2", [.integer(1), .integer(2)]) == [[.integer(1), .integer(2)]])
        #expect(try database.rows("SELECT $10", (1...10).map { .integer($0) }) == [[.integer(10)]])
    }

    @Test func namesComeWithTheRows() throws {
        let result = try database.read {
            try $0.query(#"SELECT rkey AS "the key", rev FROM "app.example.post" WHERE 0"#, [])
        }
        #expect(result.names == ["the key", "rev"] && result.rows.isEmpty)
    }

    @Test(arguments: [
        ("SELECT $1", 0), ("SELECT $1", 2), ("SELECT 1", 1), ("SELECT $3, $1", 2), ("SELECT :name", 1),
        ("SELECT $0", 1),
        ("", 0), ("-- nothing", 0), ("SELECT 1; SELECT 2", 0), ("SELECT 1; DROP TABLE notes", 0), ("SELECT 1\0, 2", 0),
        ("SELEKT", 0), ("SELECT * FROM missing", 0),
    ]) func refusesUnusableSQL(_ sql: String, _ parameters: Int) {
        #expect(throws: StorageError.self) { try database.rows(sql, (0..<parameters).map { .integer(Int64($0)) }) }
    }

    @Test(arguments: ["SELECT 1;", " SELECT 1 ; -- done", "SELECT 1 /* ; */;;", "/* first */ SELECT 1"])
    func takesOneStatementHoweverItEnds(_ sql: String) throws {
        #expect(try database.rows(sql) == [[.integer(1)]])
    }

    @Test(arguments: [
        "INSERT INTO notes VALUES (1, 2)", "DELETE FROM notes", "CREATE TABLE more (x)", "DROP TABLE notes",
        "PRAGMA query_only = 0", "PRAGMA journal_mode", "ATTACH 'x.db' AS x", "BEGIN", "COMMIT", "VACUUM", "ANALYZE",
        "INSERT INTO notes VALUES (1, 2) RETURNING a", "CREATE TEMP TABLE t (x)",
    ]) func queriesOnlyRead(_ sql: String) throws {
        #expect(throws: StorageError.self) { try database.rows(sql) }
        // On the writer's connection too.
        #expect(throws: StorageError.self) { try database.writeBlocking { _ = try $0.connection.query(sql, []) } }
        #expect(try database.number("SELECT count(*) FROM notes") == 0)
    }

    @Test(arguments: [
        "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT x", "RELEASE body", "ROLLBACK TO body", "ATTACH 'x.db' AS x",
        "DETACH main", "PRAGMA user_version = 9", "VACUUM", "VACUUM INTO 'x.db'", "DELETE FROM _push_tokens",
        "UPDATE _cursor SET position = 0", "INSERT INTO _DELETIONS VALUES ('a', 'b')", "DROP TABLE _repos",
        "DROP TABLE \"app.example.post\"", "ALTER TABLE \"app.example.post\" RENAME TO x",
        "ALTER TABLE _repos ADD COLUMN x",
        "CREATE INDEX i ON _repos (rev)", "CREATE TABLE _mine (x)", "DROP INDEX _push_rows_due",
        "DELETE FROM _push_queue", "INSERT INTO _push_sent VALUES (1, 9, 1)", "DROP VIEW _push_queue",
        "CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM _repos; END", "SELECT 1", "DELETE FROM sqlite_schema",
        "CREATE TEMP TABLE t (x)", "INSERT INTO notes VALUES (1, 2); DELETE FROM notes",
        "SELECT load_extension('x')", "CREATE VIRTUAL TABLE v USING fts5(x)",
    ]) func writesAreConfined(_ sql: String) throws {
        #expect(throws: StorageError.self) { try run(sql) }
        #expect(try run("INSERT INTO notes VALUES ($2, $1)", [.integer(1), .text("x")]) == 1)
        #expect(try database.rows("SELECT a, b FROM notes") == [[.text("x"), .integer(1)]])
    }

    @Test func writesReturnTheirNumberOfRows() throws {
        #expect(try run("INSERT INTO notes VALUES (1, 1), (2, 2) RETURNING a") == 2)
        #expect(try run("UPDATE notes SET b = 0 WHERE a > $1", [.integer(5)]) == 0)
        #expect(try run("UPDATE \"app.example.post\" SET record = '{}' WHERE rkey = $1", [.text("1")]) == 1)
        #expect(try run("CREATE INDEX notes_a ON notes (a)") == 0)
        #expect(try run("DELETE FROM notes") == 2)
    }

    @Test func longStatementsAreStopped() throws {
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT sum(x) FROM n"
        let error = #expect(throws: StorageError.self) {
            try database.read { try $0.query(endless, [], limit: .milliseconds(20)) }
        }
        #expect(error?.message.contains("too long") == true)
        #expect(try database.rows("SELECT 1") == [[.integer(1)]])
    }

    @Test func canonicallyEquivalentSQLIsNotTheSame() throws {
        for text in ["\u{e9}", "e\u{301}"] {
            let found = try #require(try database.texts("SELECT '\(text)'").first ?? nil)
            #expect(Array(found.utf8) == Array(text.utf8))
        }
    }

    @Test func theStatementCacheIsBounded() throws {
        try database.read { connection in
            for number in 0..<200 {
                let rows = try connection.query("SELECT \(number)", []).rows
                #expect(rows == [[.integer(Int64(number))]])
            }
            #expect(connection.openStatements <= StatementCache.limit)
        }
    }

    @Test func errorsNameNoValues() throws {
        _ = try run("CREATE TABLE once (x UNIQUE)")
        _ = try run("INSERT INTO once VALUES ($1)", [.text("secret")])
        let error = #expect(throws: StorageError.self) { try run("INSERT INTO once VALUES ($1)", [.text("secret")]) }
        #expect(error.map { "\($0)\($0.sql ?? "")".contains("secret") } == false)
    }
}
