@testable import ATProto
import Testing

@testable import Storage

private let post = "app.example.post"
private let table = #""app.example.post""#

@Suite struct RecordTests {
    private let scratch: Scratch
    private let database: Database
    private let schema = makeSchema([
        post: [
            Property(name: "text", kind: .string(indexed: false)), Property(name: "replyTo", kind: .strongRef),
            Property(name: "count", kind: .integer), Property(name: "isNew", kind: .boolean),
            Property(name: "raw", kind: .bytes), Property(name: "tags", kind: .json),
            Property(name: "link", kind: .cidLink), Property(name: "author", kind: .string(indexed: true)),
        ]
    ])

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        _ = try schema.migrate(database)
    }

    private func put(_ rkey: String, rev: String, _ text: String, _ action: Action = .create) throws -> RecordChange {
        try change(schema, action, post, rkey, rev: rev, map(["text": .string(text)]), wanted: true)
    }

    private func remove(_ rkey: String, rev: String) throws -> RecordChange {
        try change(schema, .delete, post, rkey, rev: rev, wanted: true)
    }

    @Test func everyKindFillsItsColumn() throws {
        let link = try #require(Value.link(try CID("bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454")).link)
        let record = map([
            "text": .string("a\0b'\"; DROP TABLE x; --😀\u{200f}"), "count": .integer(.min), "isNew": .bool(true),
            "raw": .bytes([0, 1, 255]), "tags": .array([.string("x"), .null]), "link": .link(link),
            "replyTo": map(["uri": .string("at://did:plc:bob/c/1"), "cid": .string("bafy")]),
        ])
        try database.apply(change(schema, .create, post, "1", rev: "a", record))
        let row = try #require(
            try database.rows(
                "SELECT uri, cid, did, rkey, rev, indexed_at, text, reply_to_uri, reply_to_cid, count, is_new, raw, tags, link, author, record FROM \(table)"
            ).first)
        #expect(
            row == [
                .text("at://did:plc:alice/app.example.post/1"), .text("bafy-1-a"), .text("did:plc:alice"), .text("1"),
                .text("a"), .text("2023-11-14T22:13:20.000Z"), .text("a\0b'\"; DROP TABLE x; --😀\u{200f}"),
                .text("at://did:plc:bob/c/1"), .text("bafy"), .integer(.min), .integer(1), .blob([0, 1, 255]),
                .text(#"["x",null]"#), .text(link.description), .null,
                .text(String(decoding: JSON.encode(record), as: UTF8.self)),
            ])
    }

    @Test func valuesOfOtherTypesAreKeptAsJSON() throws {
        let record = map([
            "text": .integer(5), "count": .string("7"), "isNew": .null, "raw": .string(""), "tags": .string("t"),
            "replyTo": map(["uri": .integer(3)]), "author": .array([]), "link": .bool(false),
        ])
        try database.apply(change(schema, .create, post, "1", rev: "a", record))
        let row = try database.rows(
            "SELECT text, count, is_new, raw, tags, reply_to_uri, reply_to_cid, author, link FROM \(table)")
        #expect(
            row == [
                [
                    .text("5"), .text(#""7""#), .null, .text(#""""#), .text(#""t""#), .text("3"), .null, .text("[]"),
                    .text("false"),
                ]
            ])
    }

    @Test func emptyTextsAndBytesAreNotNull() throws {
        let record = map(["text": .string(""), "raw": .bytes([])])
        try database.apply(change(schema, .create, post, "1", rev: "a", record))
        #expect(try database.rows("SELECT text, raw FROM \(table)") == [[.text(""), .blob([])]])
    }

    @Test func onlyNewerOpsApply() throws {
        #expect(try database.apply(put("1", rev: "b", "first")).created == 1)
        #expect(try database.apply(put("1", rev: "b", "again")).stale == 1)
        #expect(try database.apply(put("1", rev: "a", "older", .update)).stale == 1)
        #expect(try database.texts("SELECT text FROM \(table)") == ["first"])
        let applied = try database.apply(put("1", rev: "c", "edited", .update))
        #expect(applied.updated == 1 && applied.jobs.map(\.action) == [.update])
        #expect(try database.texts("SELECT text FROM \(table)") == ["edited"])
        #expect(try database.apply(remove("1", rev: "c")).stale == 1)
        #expect(try database.texts("SELECT text FROM \(table)") == ["edited"])
    }

    @Test func opsOfABatchApplyInOrder() throws {
        let applied = try database.apply(
            put("1", rev: "a", "one"), remove("1", rev: "b"), put("1", rev: "c", "two"), put("2", rev: "d", "x"),
            remove("2", rev: "e"))
        #expect(applied.created == 3 && applied.deleted == 2 && applied.stale == 0)
        #expect(applied.jobs.map(\.action) == [.create, .delete, .create, .create, .delete])
        #expect(applied.jobs.map(\.rev) == ["a", "b", "c", "d", "e"])
        #expect(try database.texts("SELECT text FROM \(table)") == ["two"])
    }

    @Test func aDeletedRecordStaysDeleted() throws {
        try database.apply(put("1", rev: "b", "one"))
        #expect(try database.apply(remove("1", rev: "c")).deleted == 1)
        #expect(try database.apply(remove("1", rev: "c")).stale == 1)
        #expect(try database.apply(put("1", rev: "b", "one")).stale == 1)
        #expect(try database.apply(put("1", rev: "c", "one")).stale == 1)
        #expect(try database.texts("SELECT text FROM \(table)").isEmpty)
        #expect(try database.apply(put("1", rev: "d", "back")).created == 1)
    }

    @Test func aDeletionThatCameFirstWins() throws {
        let early = try database.apply(remove("1", rev: "m"))
        #expect(early.unknownDeletes == 1 && early.jobs.isEmpty)
        #expect(try database.apply(remove("1", rev: "c")).stale == 1)
        #expect(try database.apply(put("1", rev: "l", "late")).stale == 1)
        #expect(try database.texts("SELECT rev FROM _deletions") == ["m"])
    }

    @Test func deletionsOutliveTheProcess() throws {
        try database.apply(remove("1", rev: "m"))
        database.close()
        let reopened = try scratch.open()
        #expect(try reopened.apply(put("1", rev: "l", "late")).stale == 1)
        #expect(try reopened.apply(put("1", rev: "n", "new")).created == 1)
    }

    @Test func deletesInCollectionsWithoutTableMakeNone() throws {
        let applied = try database.apply(change(schema, .delete, "app.example.other", "1", rev: "a"))
        #expect(applied.unknownDeletes == 1)
        #expect(try database.texts("SELECT name FROM sqlite_schema WHERE name LIKE '%other%'").isEmpty)
    }

    @Test func onlyWantedOpsHaveJobs() throws {
        let quiet = try change(schema, .create, post, "1", rev: "a", map(["text": .string("x")]), wanted: false)
        let applied = try database.apply(quiet, put("2", rev: "a", "y"))
        #expect(applied.jobs.map(\.rkey) == ["2"])
        let stored = try database.writeBlocking { try $0.unfinishedJobs(after: 0, limit: 10) }
        #expect(stored.count == 1)
        #expect(stored.first?.record == Array(#"{"text":"y"}"#.utf8))
        #expect(stored.first?.id == applied.jobs.first?.id)
    }

    @Test func jobIDsAreNotUsedTwiceInAProcess() throws {
        var last: Int64 = 0
        for number in 0..<3 {
            let job = try #require(try database.apply(put("\(number)", rev: "a", "x")).jobs.first)
            #expect(job.id > last)
            last = job.id
            _ = try database.writeBlocking { try $0.finish(job: job.id, notifications: [], now: 0) }
        }
        #expect(try database.writeBlocking { try $0.unfinishedJobs(after: 0, limit: 10) }.isEmpty)
    }

    @Test func cursorAndReposAreWrittenWithTheBatch() throws {
        var batch = RecordBatch()
        batch.cursor = ("wss://relay", 42)
        batch.repos = [RepoUpdate(did: "did:a", handle: "a.example"), RepoUpdate(did: "did:a", status: "active")]
        try database.writeBlocking { [batch] in _ = try $0.apply(batch) }
        #expect(try database.read { try $0.cursor(source: "wss://relay") } == 42)
        #expect(try database.read { try $0.cursor(source: "elsewhere") } == nil)
        let repos = try database.rows("SELECT did, handle, status FROM _repos")
        #expect(repos == [[.text("did:a"), .text("a.example"), .text("active")]])
    }

    @Test func aRowThatDoesNotFitItsTableFailsWhole() throws {
        let wrong = RecordChange(
            action: .create, table: try #require(schema.table(for: post)), did: "did:plc:alice", rkey: "1", rev: "a",
            cid: "bafy", json: Array("{}".utf8), columns: [.null], timeMicroseconds: 0, live: true, wanted: false)
        let changes = [try put("0", rev: "a", "x"), wrong]
        #expect(throws: StorageError.self) { try database.apply(changes) }
        #expect(try database.texts("SELECT text FROM \(table)").isEmpty)
    }

    @Test(arguments: ["a'b", "x\"y", "); DROP TABLE \"app.example.post\"; --", "\0nul\0", "🐘", "\u{202e}rtl"])
    func oddNamesSurvive(_ name: String) throws {
        try database.apply(change(schema, .create, post, name, rev: "a", map(["author": .string(name)]), did: name))
        let found = try database.read { try $0.lookup(collection: post, field: "author", values: [name]) }
        #expect(found[name] == JSON.encode(map(["author": .string(name)])))
        #expect(
            try database.rows("SELECT did, rkey, author FROM \(table)") == [[.text(name), .text(name), .text(name)]])
    }
}
