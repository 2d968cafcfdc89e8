@testable import ATProto
import Testing

@testable import Storage

private let thing = "app.example.thing"
private let text = Property(name: "text", kind: .string(indexed: false))

@Suite struct SchemaTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func onlyKeptCollectionsHaveTables() {
        let schema = makeSchema(kept: ["app.example.*", "org.other.one"])
        #expect(schema.table(for: "app.example.x") != nil)
        #expect(schema.table(for: "org.other.one") != nil)
        #expect(schema.table(for: "org.other.two") == nil)
        #expect(schema.table(for: "app.example.x") === schema.table(for: "app.example.x"))
    }

    @Test func tablesWithoutLexiconAreMadeOnFirstUse() throws {
        let database = try scratch.open()
        let schema = makeSchema()
        #expect(try schema.migrate(database).isEmpty)
        try database.apply(change(schema, .create, thing, "1", rev: "a", map(["text": .string("x")])))
        #expect(try database.texts("SELECT record FROM \"\(thing)\"") == [#"{"text":"x"}"#])
    }

    @Test func collectionsThatDifferInCaseDoNotCollide() throws {
        let (lower, upper) = ("app.example.fooBar", "app.example.foobar")
        for _ in 0..<2 {  // The second time, the names are found in the database.
            let database = try scratch.open()
            let schema = makeSchema([upper: [text]])
            _ = try schema.migrate(database)
            for (collection, value) in [(lower, "l"), (upper, "u")] {
                try database.apply(change(schema, .create, collection, "1", rev: "a", map(["text": .string(value)])))
            }
            #expect(schema.table(for: upper)?.name == upper)
            #expect(schema.table(for: lower)?.name == "\(lower)~2")
            #expect(try database.texts("SELECT record FROM \"\(upper)\"") == [#"{"text":"u"}"#])
            #expect(try database.texts("SELECT record FROM \"\(lower)~2\"") == [#"{"text":"l"}"#])
            let found = try database.read { try $0.lookup(collection: lower, field: "did", values: ["did:plc:alice"]) }
            #expect(found.values.first == Array(#"{"text":"l"}"#.utf8))
            database.close()
        }
    }

    @Test func propertiesWhoseNameIsTakenAreReported() throws {
        let database = try scratch.open()
        let schema = makeSchema([
            thing: [
                Property(name: "record", kind: .json), Property(name: "indexedAt", kind: .string(indexed: false)),
                Property(name: "fooBar", kind: .integer), Property(name: "foo_bar", kind: .integer),
                Property(name: "Uri", kind: .integer), Property(name: "x", kind: .strongRef),
                Property(name: "xUri", kind: .json), Property(name: "a\"b'; --", kind: .string(indexed: true)),
            ]
        ])
        let lines = try schema.migrate(database)
        #expect(lines.count == 4)
        for name in ["record", "indexedAt", "foo_bar", "xUri"] { #expect(lines.contains { $0.contains(" \(name) ") }) }
        let record = map([
            "record": .integer(1), "fooBar": .integer(2), "foo_bar": .integer(3), "a\"b'; --": .string("odd"),
            "Uri": .integer(4),
        ])
        try database.apply(change(schema, .create, thing, "1", rev: "a", record))
        #expect(
            try database.rows(#"SELECT foo_bar, "a""b'; --", _uri FROM "app.example.thing""#) == [
                [.integer(2), .text("odd"), .integer(4)]
            ])
    }

    @Test(arguments: [
        ("replyTo", "reply_to"), ("createdAt", "created_at"), ("x", "x"), ("avatarURL", "avatar_u_r_l"),
        ("already_snake", "already_snake"), ("Ärger", "Ärger".lowercased()),
    ]) func snakeCase(_ name: String, _ column: String) {
        #expect(RecordColumns.snakeCase(name) == column)
    }

    // MARK: Growth

    private let grown: [Property] = [
        text, Property(name: "subject", kind: .string(indexed: true)), Property(name: "ref", kind: .strongRef),
        Property(name: "count", kind: .integer),
    ]

    private func fill(_ database: Database, _ count: Int, _ schema: RecordSchema) throws {
        try database.apply(
            (0..<count).map { number in
                let record = map([
                    "text": .string("t"), "subject": .string("s\0\(number)"), "count": .integer(Int64(number)),
                    "ref": map(["uri": .string("u\(number)"), "cid": .string("c")]),
                ])
                return try change(schema, .create, thing, "\(number)", rev: "a", record)
            })
    }

    private func expectFilled(_ database: Database, _ count: Int) throws {
        let rows = try database.rows(
            "SELECT rkey, subject, ref_uri, ref_cid, count, text FROM \"\(thing)\" ORDER BY count")
        #expect(
            rows
                == (0..<count).map {
                    [.text("\($0)"), .text("s\0\($0)"), .text("u\($0)"), .text("c"), .integer(Int64($0)), .text("t")]
                })
        #expect(
            try database.texts("SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '%/%' ORDER BY name")
                == ["\(thing)/ref_uri", "\(thing)/subject"])
    }

    @Test func newPropertiesAreFilledFromTheRecords() throws {
        var database = try scratch.open()
        let schema = makeSchema([thing: [text]])
        _ = try schema.migrate(database)
        try fill(database, 2500, schema)
        database.close()
        for _ in 0..<2 {
            database = try scratch.open()
            #expect(try makeSchema([thing: grown]).migrate(database).isEmpty)
            try expectFilled(database, 2500)
            database.close()
        }
    }

    @Test func anInterruptedMigrationIsTakenUp() throws {
        let database = try scratch.open()
        let schema = makeSchema([thing: [text]])
        _ = try schema.migrate(database)
        try fill(database, 1500, schema)
        // As after a crash between the steps: columns there, rows not (all) filled, no index.
        let half = makeSchema([thing: grown])
        try database.writeBlocking { transaction in
            for table in half.described { try TableDefinition(transaction.connection).establish(table) }
        }
        #expect(try database.texts("SELECT filled_to FROM _collections") == [""])
        _ = try makeSchema([thing: grown]).migrate(database)
        #expect(try database.texts("SELECT filled_to FROM _collections") == [nil])
        try expectFilled(database, 1500)
    }

    @Test func removedPropertiesKeepTheirColumns() throws {
        let database = try scratch.open()
        let schema = makeSchema([thing: grown])
        _ = try schema.migrate(database)
        try fill(database, 1, schema)
        let shrunk = makeSchema([thing: [text]])
        _ = try shrunk.migrate(database)
        try database.apply(change(shrunk, .create, thing, "new", rev: "a", map(["text": .string("n")])))
        #expect(try database.number("SELECT count(*) FROM \"\(thing)\" WHERE count = 0") == 1)
        #expect(try database.texts("SELECT text FROM \"\(thing)\" WHERE rkey = 'new'") == ["n"])
    }

    // MARK: Rollback

    @Test func aTableMadeInAFailedBodyIsMadeAgain() throws {
        struct Stop: Error {}
        let database = try scratch.open()
        let schema = makeSchema()
        let batch = try {
            var batch = RecordBatch()
            batch.changes = [try change(schema, .create, thing, "1", rev: "a", map([:]))]
            return batch
        }()
        for neighbours in [0, 3] {
            #expect(throws: Stop.self) {
                for _ in 0..<neighbours {
                    database.submit { _ in
                    } committed: { _ in
                    }
                }
                try database.writeBlocking { transaction in
                    _ = try transaction.apply(batch)
                    throw Stop()
                }
            }
        }
        #expect(throws: StorageError.self) { try database.rows("SELECT * FROM \"\(thing)\"") }
        #expect(try database.apply(batch.changes).created == 1)
        #expect(try database.number("SELECT count(*) FROM \"\(thing)\"") == 1)
    }

    @Test func manyTablesShareTheStatementCache() throws {
        let database = try scratch.open()
        let schema = makeSchema()
        for round in ["a", "b"] {
            let changes = try (0..<600).map {
                try change(schema, .create, "app.example.c\($0)", "1", rev: round, map([:]))
            }
            #expect(try database.apply(changes).created == 600)
        }
        #expect(try database.number("SELECT count(*) FROM _collections") == 600)
    }
}
