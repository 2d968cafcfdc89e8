import Testing

@testable import ATProto

/// Lines around records whose CIDs somebody else's program computed (atproto-interop-tests, data-model-fixtures, CC0).
private enum Lines {
    static let record =
        #"{"a":{"$link":"bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"},"#
        + #""b":{"$bytes":"nFERjvLLiw9qm45JrqH9QTzyC2Lu1Xb4ne6+sBrCzI0"},"c":{"$type":"blob","#
        + #""ref":{"$link":"bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity"},"mimeType":"image/jpeg","size":10000}}"#
    static let cid = "bafyreihldkhcwijkde7gx4rpkkuw7pl6lbyu5gieunyc7ihactn5bkd2nm"
    static let did = "did:plc:wq4aajammjtxdomz3e23667t"
    static let rev = "3mptbypluud2a"

    /// A commit line; each argument is JSON.
    static func commit(
        operation: String = #""create""#, collection: String = #""com.example.thing""#, rkey: String = #""self""#,
        record: String? = record, cid: String? = "\"\(cid)\"", rev: String = "\"\(rev)\"", did: String = "\"\(did)\"",
        extra: String = ""
    ) -> String {
        let tail = (record.map { ",\"record\":\($0)" } ?? "") + (cid.map { ",\"cid\":\($0)" } ?? "")
        return
            #"{"did":\#(did),"time_us":1783175888085434,"kind":"commit","commit":{"rev":\#(rev),"operation":\#(operation),"#
            + #""collection":\#(collection),"rkey":\#(rkey)\#(tail)}\#(extra)}"#
    }
}

private func decode(_ line: String, keep: CollectionFilter = .everything) throws -> Event {
    try JetstreamLine.decode(Array(line.utf8), keep: keep)
}

private func decodeCommit(_ line: String, keep: CollectionFilter = .everything) throws -> Commit {
    guard case .commit(let commit) = try decode(line, keep: keep) else {
        throw DecodingFailure("not a commit")
    }
    return commit
}

@Suite("Jetstream lines")
struct JetstreamTests {
    @Test(arguments: ["create", "update"])
    func readsACommit(_ operation: String) throws {
        let commit = try decodeCommit(Lines.commit(operation: "\"\(operation)\""))
        #expect(commit.repo.description == Lines.did)
        #expect(commit.rev.description == Lines.rev)
        #expect(commit.seq == nil)
        #expect(commit.timeMicroseconds == 1_783_175_888_085_434)
        #expect(commit.dropped.isEmpty && commit.ignoredOps == 0)
        let op = try #require(commit.ops.first)
        #expect(commit.ops.count == 1)
        #expect(op.action.rawValue == operation)
        #expect(op.collection.description == "com.example.thing" && op.rkey.description == "self")
        #expect(op.cid?.description == Lines.cid)
        #expect(op.record?["b"]?.bytes?.count == 32)
        #expect(op.record?["c"]?["size"] == .integer(10_000))
    }

    @Test func readsADelete() throws {
        for extra in [(nil, nil), ("[1.5]", "7")] as [(String?, String?)] {
            let commit = try decodeCommit(Lines.commit(operation: #""delete""#, record: extra.0, cid: extra.1))
            let op = try #require(commit.ops.first)
            #expect(op.action == .delete && op.cid == nil && op.record == nil)
        }
    }

    @Test("Members may stand in any order")
    func readsAnyOrder() throws {
        let line =
            #" { "commit" : { "cid":"\#(Lines.cid)", "record":\#(Lines.record), "rkey":"self", "x":[1.5], "#
            + #""collection":"com.example.thing", "operation":"create", "rev":"\#(Lines.rev)" }, "y":{}, "kind":"commit", "#
            + #""identity": 7, "did":"\#(Lines.did)" } "#
        let commit = try decodeCommit(line)
        #expect(commit.ops.count == 1 && commit.timeMicroseconds == nil)
        #expect(commit.ops.first?.record?["c"] != nil)
    }

    @Test("Collections that nobody keeps are counted, whatever their record is")
    func ignoresOthers() throws {
        let keep = CollectionFilter(["app.bsky.*", "a.b.c"])
        for line in [
            Lines.commit(), Lines.commit(record: #"{"x":1.5,"y":"\ud800"}"#), Lines.commit(operation: #""delete""#),
            Lines.commit(collection: #""no nsid""#), Lines.commit(rkey: #""a/b""#), Lines.commit(cid: "null"),
        ] {
            let commit = try decodeCommit(line, keep: keep)
            #expect(commit.ignoredOps == 1 && commit.ops.isEmpty && commit.dropped.isEmpty)
        }
        #expect(throws: DecodingFailure.self) { try decode(Lines.commit(record: "{1:2}"), keep: keep) }
        #expect(try decodeCommit(Lines.commit(), keep: CollectionFilter(["com.example.*"])).ops.count == 1)
    }

    static let unusable: [(String, DropReason)] = [
        (Lines.commit(cid: #""bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a""#), .cidMismatch),
        (Lines.commit(record: #"{"a":1}"#), .cidMismatch),
        (Lines.commit(record: #"{"a":1.5}"#), .malformedRecord),
        (Lines.commit(record: #"{"a":1e2}"#), .malformedRecord),
        (Lines.commit(record: #"{"a":9223372036854775808}"#), .malformedRecord),
        (Lines.commit(record: #"{"a":"\ud83d"}"#), .malformedRecord),
        (Lines.commit(record: #"{"a":1,"a":1}"#), .malformedRecord),
        (Lines.commit(record: #"{"a":{"$link":"."}}"#), .malformedRecord),
        (Lines.commit(record: #"{"a":{"$bytes":"*"}}"#), .malformedRecord),
        (Lines.commit(record: #"{"$type":""}"#), .malformedRecord), (Lines.commit(record: "[]"), .malformedRecord),
        (Lines.commit(record: "null"), .malformedRecord), (Lines.commit(record: "7"), .malformedRecord),
        (
            Lines.commit(record: #"{"$link":"bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"}"#),
            .malformedRecord
        ),
        (Lines.commit(record: String(repeating: "[", count: 40) + String(repeating: "]", count: 40)), .malformedRecord),
        (Lines.commit(record: nil), .malformedOp), (Lines.commit(cid: nil), .malformedOp),
        (Lines.commit(cid: "7"), .malformedOp),
        (Lines.commit(cid: #""b!""#), .malformedOp), (Lines.commit(operation: #""upsert""#), .malformedOp),
        (Lines.commit(operation: "1"), .malformedOp), (Lines.commit(collection: #""nodots""#), .malformedOp),
        (Lines.commit(collection: "null"), .malformedOp), (Lines.commit(rkey: #""""#), .malformedOp),
        (Lines.commit(rkey: #""..""#), .malformedOp),
        (Lines.commit(rkey: #""a/b""#), .malformedOp), (Lines.commit(rkey: #""\ud800""#), .malformedOp),
        (Lines.commit(rkey: "[]"), .malformedOp),
        (Lines.commit(operation: #""delete""#, rkey: #""""#), .malformedOp),
    ]

    @Test("An unusable op costs the op, not the line", arguments: unusable)
    func drops(_ line: String, _ reason: DropReason) throws {
        let commit = try decodeCommit(line)
        #expect(commit.ops.isEmpty && commit.ignoredOps == 0)
        #expect(commit.dropped.map(\.reason) == [reason])
    }

    @Test("The record before the fields that decide about it fares alike")
    func dropsInAnyOrder() throws {
        let line =
            #"{"commit":{"record":{"a":1.5},"cid":"\#(Lines.cid)","rkey":"self","collection":"a.b.c","operation":"create","rev":"\#(Lines.rev)"},"kind":"commit","did":"\#(Lines.did)"}"#
        #expect(try decodeCommit(line).dropped.map(\.reason) == [.malformedRecord])
        #expect(try decodeCommit(line).dropped.map(\.path) == ["a.b.c/self"])
    }

    @Test func dropsOversizedRecords() throws {
        let text = String(repeating: "x", count: DataModel.maximumRecordSize)
        #expect(
            try decodeCommit(Lines.commit(record: #"{"a":"\#(text)"}"#)).dropped.map(\.reason) == [.oversizedRecord])
        let many = String(repeating: "0,", count: JSON.maximumCount) + "0"
        #expect(
            try decodeCommit(Lines.commit(record: #"{"a":[\#(many)]}"#)).dropped.map(\.reason) == [.oversizedRecord])
        let longLine = Lines.commit(extra: String(repeating: " ", count: JetstreamLine.maximumSize))
        #expect(throws: DecodingFailure.self) { try decode(longLine) }
    }

    @Test(
        "Of these lines nothing can be said",
        arguments: [
            "", " ", "null", "[]", "7", #""x""#, "{}", "garbage", Lines.commit() + "x",
            String(Lines.commit().dropLast()),
            Lines.commit(rev: #""abc""#), Lines.commit(rev: "7"), Lines.commit(did: #""did:""#),
            Lines.commit(did: "null"),
            Lines.commit(extra: #","kind":"commit""#), Lines.commit(extra: #","did":"did:plc:x""#),
            Lines.commit(extra: ",\"x\":tru"),
            #"{"did":"did:plc:abc","kind":"commit"}"#, #"{"did":"did:plc:abc","kind":"commit","commit":[]}"#,
            #"{"did":"did:plc:abc","kind":7}"#, #"{"kind":"identity","identity":{}}"#,
            #"{"did":"did:plc:abc","kind":"identity"}"#,
            #"{"did":"did:plc:abc","kind":"account","account":{}}"#,
            #"{"did":"did:plc:abc","kind":"account","account":{"active":1}}"#,
            #"{"did":"did:plc:abc","time_us":"1","kind":"x"}"#, #"{"did":"did:plc:abc","time_us":1.5,"kind":"x"}"#,
        ])
    func refuses(_ line: String) {
        #expect(throws: DecodingFailure.self) { try decode(line) }
    }

    @Test func readsIdentityAndAccount() throws {
        let identity = try decode(
            #"{"did":"did:plc:abc","time_us":1,"kind":"identity","identity":{"did":"did:plc:abc","handle":"a.test","seq":7,"time":"t"}}"#
        )
        guard case .identity(let update) = identity else { throw DecodingFailure("not an identity") }
        #expect(update.did.description == "did:plc:abc" && update.handle?.description == "a.test" && update.seq == 7)
        guard
            case .identity(let bare) = try decode(#"{"identity":{"handle":"!"},"did":"did:plc:abc","kind":"identity"}"#)
        else { throw DecodingFailure("not an identity") }
        #expect(bare.handle == nil && bare.seq == nil)

        let account = try decode(
            #"{"did":"did:plc:abc","kind":"account","account":{"active":false,"seq":8,"status":"takendown"}}"#)
        guard case .account(let state) = account else { throw DecodingFailure("not an account") }
        #expect(!state.active && state.status == "takendown" && state.seq == 8)
    }

    @Test func passesUnknownKinds() throws {
        guard case .info(let name, nil) = try decode(#"{"kind":"label","label":{"x":1.5}}"#) else {
            throw DecodingFailure("not an info")
        }
        #expect(name == "label")
    }

    @Test("Lines of a production Jetstream", .enabled(if: SharedCorpus.isPresent, "shared test data is absent"))
    func readsTheCorpus() throws {
        let lines = try SharedCorpus.cases("expected_v1.jsonl")
        var ops = 0
        for line in lines {
            guard case .commit(let commit) = try decode(line) else { continue }
            #expect(commit.dropped.isEmpty)
            ops += commit.ops.count
            for op in commit.ops {
                guard let record = op.record else { continue }
                #expect(try JSON.decode(JSON.encode(record)) == record)
                #expect(try DAGCBOR.decode(DAGCBOR.encode(record)) == record)
                #expect(DataModel.fault(of: record) == nil)
            }
        }
        #expect(lines.count == 152 && ops == 150)
    }
}
