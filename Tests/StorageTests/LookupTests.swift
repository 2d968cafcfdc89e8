@testable import ATProto
import Testing

@testable import Storage

private let favorite = "app.example.favorite"

@Suite struct LookupTests {
    private let scratch: Scratch
    private let database: Database
    private let schema = makeSchema([
        favorite: [
            Property(name: "subject", kind: .strongRef), Property(name: "replyTo", kind: .string(indexed: true)),
            Property(name: "count", kind: .integer),
        ]
    ])

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        _ = try schema.migrate(database)
        for (number, did) in ["did:plc:a", "did:plc:ab", "did:plc:a"].enumerated() {
            let record = map([
                "subject": map(["uri": .string("at://s/\(number)"), "cid": .string("c")]), "replyTo": .string("r"),
                "count": .integer(Int64(number)),
            ])
            try database.apply(change(schema, .create, favorite, "\(number)", rev: "r\(number)", record, did: did))
        }
    }

    private func counts(_ field: String, _ values: [String]) throws -> [String: Int64] {
        try database.read { try $0.lookup(collection: favorite, field: field, values: values) }
            .mapValues { try JSON.decode($0)["count"]?.integer ?? -1 }
    }

    @Test func findsTheNewestByDID() throws {
        #expect(
            try counts("did", ["did:plc:a", "did:plc:ab", "did:plc:", "did:plc:a/", ""]) == [
                "did:plc:a": 2, "did:plc:ab": 1,
            ])
    }

    @Test(arguments: ["replyTo", "reply_to", "REPLY_TO"]) func namesAPropertyOrItsColumn(_ field: String) throws {
        #expect(try counts(field, ["r", "r", "q"]) == ["r": 2])
    }

    @Test func findsByStrongRefURIAndNumber() throws {
        #expect(try counts("subject", ["at://s/1"]) == ["at://s/1": 1])
        #expect(try counts("uri", ["at://did:plc:a/app.example.favorite/0"]).values.sorted() == [0])
        #expect(try counts("count", ["1"]) == ["1": 1])
    }

    @Test func usesIndexes() throws {
        for condition in ["uri > 'a' AND uri < 'b'", "reply_to = 'r'", "subject_uri = 's'"] {
            let plan = try database.writeBlocking { transaction in
                let statement = try transaction.connection.prepare(
                    "EXPLAIN QUERY PLAN SELECT record FROM \"\(favorite)\" WHERE \(condition)")
                return try statement.first { $0.text(3) } ?? ""
            }
            #expect(plan.contains("SEARCH"), "\(condition): \(plan)")
        }
    }

    @Test func unknownCollectionsAreEmptyAndUnknownFieldsAnError() throws {
        #expect(try database.read { try $0.lookup(collection: "no.such.thing", field: "did", values: ["a"]) }.isEmpty)
        #expect(throws: StorageError.self) { try counts("nothing\"; DROP", ["a"]) }
        // The failed lookup leaves nothing behind.
        #expect(try counts("did", ["did:plc:ab"]) == ["did:plc:ab": 1])
    }
}
