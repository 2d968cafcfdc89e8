import Crypto
import Testing

@testable import ATProto

@Suite struct RelayFrameTests {
    static func commit(_ frame: FrameBuilder, keep: CollectionFilter = .everything) throws -> Commit {
        guard case .commit(let commit) = try RelayFrame.decode(frame.bytes, keep: keep) else {
            throw DecodingFailure("not a commit")
        }
        return commit
    }

    @Test func readsACommit() throws {
        let (a, b) = (FrameBuilder.record("a"), FrameBuilder.record("b\0 👋"))
        // The blocks stand in another order than the ops.
        let frame = FrameBuilder(
            ops: [
                FrameBuilder.op("create", "com.example.note/a", a.cid),
                FrameBuilder.op("update", "com.example.note/b", b.cid),
                FrameBuilder.op("delete", "com.example.note/c", nil),
            ],
            blocks: [(b.cid, b.bytes), (CID.raw(of: [1]), [1]), (a.cid, a.bytes)])
        let commit = try Self.commit(frame)
        #expect(commit.repo.description == FrameBuilder.repo)
        #expect(commit.rev.description == FrameBuilder.rev)
        #expect(commit.seq == 7)
        #expect(commit.timeMicroseconds == 1_783_175_887_517_000)
        #expect(commit.ops.map(\.action) == [.create, .update, .delete])
        #expect(commit.ops.map(\.rkey.description) == ["a", "b", "c"])
        #expect(commit.ops.map(\.cid) == [a.cid, b.cid, nil])
        #expect(commit.ops.map(\.record) == [a.value, b.value, nil])
        #expect(commit.dropped.isEmpty && commit.ignoredOps == 0)
    }

    @Test func decodesKeptCollectionsOnly() throws {
        let record = FrameBuilder.record("a")
        let frame = FrameBuilder(
            ops: [
                FrameBuilder.op("create", "com.example.note/a", record.cid),
                FrameBuilder.op("create", "com.example.other/a", CID.dagCBOR(of: [0])),
                FrameBuilder.op("delete", "com.other.thing/a", nil),
            ],
            blocks: [(record.cid, record.bytes)])
        let commit = try Self.commit(frame, keep: CollectionFilter(["com.example.note"]))
        #expect(commit.ops.count == 1 && commit.ignoredOps == 2 && commit.dropped.isEmpty)
        #expect(try Self.commit(frame, keep: CollectionFilter(["com.none.x"])).ignoredOps == 3)
    }

    /// What is wrong with one op, its blocks, and the reason it is dropped for.
    static let badOps: [(String, Value, [(cid: CID, bytes: [UInt8])], DropReason)] = {
        let record = FrameBuilder.record("bad")
        let (cid, block) = (record.cid, (cid: record.cid, bytes: record.bytes))
        let path = "com.example.note/bad"
        let number = DAGCBOR.encode(.integer(1))
        let float: [UInt8] = [0xa1, 0x61, 0x61, 0xf9, 0, 0]
        let huge = DAGCBOR.encode(FrameBuilder.map([("text", .string(String(repeating: "x", count: 1 << 20)))]))
        return [
            ("no map", .integer(1), [], .malformedOp), ("empty", FrameBuilder.map([]), [], .malformedOp),
            ("no action", FrameBuilder.map([("path", .string(path)), ("cid", .link(cid))]), [block], .malformedOp),
            ("an unknown action", FrameBuilder.op("rename", path, cid), [block], .malformedOp),
            ("a path of one part", FrameBuilder.op("create", "com.example.note", cid), [block], .malformedOp),
            ("a path of three parts", FrameBuilder.op("create", path + "/x", cid), [block], .malformedOp),
            ("no collection", FrameBuilder.op("create", "/bad", cid), [block], .malformedOp),
            ("no NSID", FrameBuilder.op("create", "note/bad", cid), [block], .malformedOp),
            ("no record key", FrameBuilder.op("create", "com.example.note/..", cid), [block], .malformedOp),
            ("an odd record key", FrameBuilder.op("create", "com.example.note/a b", cid), [block], .malformedOp),
            (
                "a path that is no text",
                FrameBuilder.map([("action", .string("create")), ("path", .integer(1)), ("cid", .link(cid))]), [block],
                .malformedOp
            ),
            ("no cid", FrameBuilder.op("create", path, nil), [block], .malformedOp),
            ("a delete with a cid", FrameBuilder.op("delete", path, cid), [block], .malformedOp),
            (
                "a cid of raw bytes", FrameBuilder.op("create", path, CID.raw(of: record.bytes)),
                [(CID.raw(of: record.bytes), record.bytes)], .malformedOp
            ),
            (
                "a long op",
                FrameBuilder.map([("action", .string(String(repeating: "x", count: 5000))), ("path", .string(path))]),
                [], .malformedOp
            ),
            ("no block", FrameBuilder.op("create", path, cid), [], .missingBlock),
            ("another block under the cid", FrameBuilder.op("update", path, cid), [(cid, number)], .cidMismatch),
            (
                "a record that is no map", FrameBuilder.op("create", path, CID.dagCBOR(of: number)),
                [(CID.dagCBOR(of: number), number)], .malformedRecord
            ),
            (
                "a record with a float", FrameBuilder.op("create", path, CID.dagCBOR(of: float)),
                [(CID.dagCBOR(of: float), float)], .malformedRecord
            ),
            (
                "an empty record", FrameBuilder.op("create", path, CID.dagCBOR(of: [])), [(CID.dagCBOR(of: []), [])],
                .malformedRecord
            ),
            (
                "a huge record", FrameBuilder.op("create", path, CID.dagCBOR(of: huge)),
                [(CID.dagCBOR(of: huge), huge)], .oversizedRecord
            ),
        ]
    }()

    @Test(arguments: badOps) func dropsABadOpAlone(
        _ what: String, _ op: Value, _ blocks: [(cid: CID, bytes: [UInt8])], _ reason: DropReason
    ) throws {
        let good = FrameBuilder.record("good")
        let frame = FrameBuilder(
            ops: [
                FrameBuilder.op("create", "com.example.note/first", good.cid), op,
                FrameBuilder.op("delete", "com.example.note/last", nil),
            ],
            blocks: blocks + [(good.cid, good.bytes)])
        let commit = try Self.commit(frame)
        #expect(commit.ops.map(\.rkey.description) == ["first", "last"], "\(what)")
        #expect(commit.dropped.map(\.reason) == [reason], "\(what)")
    }

    @Test func dropsAnOpWithForeignCBORAlone() throws {
        var bytes = FrameBuilder(ops: [FrameBuilder.op("delete", "com.example.note/a", nil), .string("float")]).bytes
        // The text "float" and its head take six bytes, as does a float of 32 bits in an array.
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x65] + "float".utf8) })
        bytes.replaceSubrange(place..<place + 6, with: [0x81, 0xfa, 0, 0, 0, 0])
        guard case .commit(let commit) = try RelayFrame.decode(bytes, keep: .everything) else {
            throw DecodingFailure("no commit")
        }
        #expect(commit.ops.count == 1 && commit.dropped.map(\.reason) == [.malformedOp])
    }

    static let badFrames: [(String, [UInt8])] = {
        let good = FrameBuilder(ops: [])
        func without(_ key: String) -> [UInt8] { with(key, nil) }
        func with(_ key: String, _ value: Value?) -> [UInt8] {
            var frame = good
            frame.set(key, value)
            return frame.bytes
        }
        let header = DAGCBOR.encode(FrameBuilder.map([("op", .integer(1)), ("t", .string("#commit"))]))
        let record = FrameBuilder.record("x")
        var brokenCAR = FrameBuilder(ops: [FrameBuilder.op("create", "com.example.note/a", record.cid)])
        brokenCAR.set("blocks", .bytes([1, 2, 3]))
        var untyped = good
        untyped.type = nil
        return ["repo", "rev", "seq", "ops", "blocks", "time"].map { ("no \($0)", without($0)) } + [
            ("nothing", []), ("a header alone", header), ("a body that is no map", header + [0x80]),
            ("no type", untyped.bytes),
            ("cut off", Array(good.bytes.dropLast())), ("bytes behind", good.bytes + [0]),
            ("a header that is no map", [0x80] + good.bytes),
            (
                "an op that is no integer",
                DAGCBOR.encode(FrameBuilder.map([("op", .string("1")), ("t", .string("#commit"))])) + [0xa0]
            ),
            ("a float in the body", header + [0xa1, 0x61, 0x61, 0xf9, 0, 0]),
            ("keys out of order", header + [0xa2, 0x61, 0x62, 0, 0x61, 0x61, 0]),
            ("repo is a handle", with("repo", .string("alice.example.com"))),
            ("rev is no TID", with("rev", .string("1"))), ("rev is no text", with("rev", .null)),
            ("seq is text", with("seq", .string("7"))), ("seq is negative", with("seq", .integer(-1))),
            ("time is no datetime", with("time", .string("yesterday"))),
            ("ops is a map", with("ops", FrameBuilder.map([]))), ("blocks is text", with("blocks", .string("x"))),
            ("a CAR without structure", brokenCAR.bytes),
            ("201 ops", with("ops", .array(Array(repeating: .null, count: 201)))),
            ("5 MB", good.bytes + Array(repeating: 0, count: RelayFrame.maximumSize)),
            ("65 fields", header + DAGCBOR.encode(FrameBuilder.map((10..<75).map { ("k\($0)", .null) }))),
        ]
    }()

    @Test(arguments: badFrames) func refuses(_ what: String, _ bytes: [UInt8]) {
        #expect(throws: DecodingFailure.self, "accepts a frame with \(what)") {
            try RelayFrame.decode(bytes, keep: .everything)
        }
    }

    @Test func takesTwoHundredOpsAndUnknownFields() throws {
        var frame = FrameBuilder(
            ops: Array(repeating: FrameBuilder.op("delete", "com.example.note/a", nil), count: 200))
        frame.set("somethingNew", FrameBuilder.map([("x", .array([.null]))]))
        #expect(try Self.commit(frame).ops.count == 200)
    }

    @Test func aBlockNamedOftenCountsEachTime() throws {
        let record = FrameBuilder.record(String(repeating: "x", count: 1_000_000))
        let ops = (0..<20).map { FrameBuilder.op("create", "com.example.note/\($0)", record.cid) }
        let commit = try Self.commit(FrameBuilder(ops: ops, blocks: [(record.cid, record.bytes)]))
        #expect(commit.ops.count == 4)
        #expect(commit.dropped.count == 16 && commit.dropped.allSatisfy { $0.reason == .oversizedRecord })
    }

    @Test func takesCommitsThatWereTooBig() throws {
        var frame = FrameBuilder(ops: [])
        frame.set("tooBig", .bool(true))
        frame.set("blocks", .bytes([]))
        let commit = try Self.commit(frame)
        #expect(commit.ops.isEmpty && commit.dropped.isEmpty)
    }
}

@Suite struct OtherFrameTests {
    static let common: [(key: String, value: Value)] = [
        ("did", .string(FrameBuilder.repo)), ("seq", .integer(9)), ("time", .string("2026-07-04T14:38:07Z")),
    ]

    static func decode(_ type: String, _ body: [(key: String, value: Value)]) throws -> Event {
        try RelayFrame.decode(FrameBuilder(type, body).bytes, keep: .everything)
    }

    @Test func readsIdentity() throws {
        for (handle, expected) in [("alice.example.com", "alice.example.com"), ("no handle", nil)]
            as [(String, String?)]
        {
            guard case .identity(let update) = try Self.decode("#identity", Self.common + [("handle", .string(handle))])
            else { throw DecodingFailure("?") }
            #expect(update.did.description == FrameBuilder.repo && update.seq == 9)
            #expect(update.handle?.description == expected)
        }
        guard case .identity(let update) = try Self.decode("#identity", Self.common) else { throw DecodingFailure("?") }
        #expect(update.handle == nil)
    }

    @Test func readsAccount() throws {
        guard
            case .account(let update) = try Self.decode(
                "#account", Self.common + [("active", .bool(false)), ("status", .string("takendown"))])
        else { throw DecodingFailure("?") }
        #expect(!update.active && update.status == "takendown" && update.seq == 9)
        #expect(throws: DecodingFailure.self) { try Self.decode("#account", Self.common) }
        #expect(throws: DecodingFailure.self) { try Self.decode("#account", Self.common + [("active", .integer(1))]) }
    }

    @Test func readsSync() throws {
        guard
            case .sync(let sync) = try Self.decode(
                "#sync", Self.common + [("rev", .string(FrameBuilder.rev)), ("blocks", .bytes([]))])
        else { throw DecodingFailure("?") }
        #expect(sync.repo.description == FrameBuilder.repo && sync.rev.description == FrameBuilder.rev && sync.seq == 9)
        #expect(throws: DecodingFailure.self) {
            try Self.decode("#sync", Self.common + [("rev", .string(FrameBuilder.rev))])
        }
    }

    @Test func readsInfo() throws {
        guard
            case .info("OutdatedCursor", "too old") = try Self.decode(
                "#info", [("name", .string("OutdatedCursor")), ("message", .string("too old"))])
        else { throw DecodingFailure("?") }
    }

    @Test func readsErrors() throws {
        var frame = FrameBuilder("", [("error", .string("FutureCursor")), ("message", .string("ahead"))])
        (frame.type, frame.op) = (nil, .integer(-1))
        guard case .error("FutureCursor", "ahead") = try RelayFrame.decode(frame.bytes, keep: .everything) else {
            throw DecodingFailure("?")
        }
        frame.set("error", nil)
        #expect(throws: DecodingFailure.self) { try RelayFrame.decode(frame.bytes, keep: .everything) }
    }

    @Test func toleratesUnknownTypes() throws {
        guard case .info("#news", nil) = try Self.decode("#news", [("x", .integer(1))]) else {
            throw DecodingFailure("?")
        }
        var frame = FrameBuilder("#commit", [])
        frame.op = .integer(2)
        guard case .info("op 2", nil) = try RelayFrame.decode(frame.bytes, keep: .everything) else {
            throw DecodingFailure("?")
        }
    }
}

@Suite struct RelayFrameMutationTests {
    @Test(arguments: 0..<4) func survivesMutation(_ seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        let (a, b) = (FrameBuilder.record("a"), FrameBuilder.record("b"))
        let frame = FrameBuilder(
            ops: [
                FrameBuilder.op("create", "com.example.note/a", a.cid),
                FrameBuilder.op("update", "com.example.note/b", b.cid),
            ],
            blocks: [(a.cid, a.bytes), (b.cid, b.bytes)]
        ).bytes
        for _ in 0..<3_000 {
            var bytes = frame
            for _ in 0..<Int.random(in: 1...3, using: &random) { random.mutate(&bytes) }
            guard case .commit(let commit) = try? RelayFrame.decode(bytes, keep: .everything) else { continue }
            #expect(commit.ops.count + commit.dropped.count <= RelayFrame.maximumOps)
            for op in commit.ops {
                // Whatever got through hashes to the CID that its op names.
                #expect(op.record.map { CID.dagCBOR(of: DAGCBOR.encode($0)) } == op.cid)
            }
        }
    }
}

/// Real frames of a relay, against what a production Jetstream sent for them.
@Suite(.enabled(if: SharedCorpus.isPresent, "the shared corpus is absent")) struct RelayFrameCorpusTests {
    static func frames() throws -> [[UInt8]] {
        let bytes = try SharedCorpus.bytes("relay-2026-07-04.frames")
        var (frames, offset) = ([[UInt8]](), 0)
        while offset + 4 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
            frames.append(Array(bytes[offset + 4..<offset + 4 + length]))
            offset += 4 + length
        }
        return frames
    }

    @Test func decodesEveryFrame() throws {
        let events = try Self.frames().map { try RelayFrame.decode($0, keep: .everything) }
        #expect(events.count == 150)
        let commits = events.compactMap { if case .commit(let commit) = $0 { commit } else { nil } }
        #expect(commits.count == 148)
        #expect(commits.allSatisfy { $0.dropped.isEmpty && $0.ignoredOps == 0 })
        let actions = commits.flatMap(\.ops).map(\.action)
        #expect(actions.filter { $0 == .create }.count == 144)
        #expect(actions.filter { $0 == .update }.count == 2)
        #expect(actions.filter { $0 == .delete }.count == 4)
        #expect(commits.compactMap(\.seq) == commits.compactMap(\.seq).sorted())
        for frame in try Self.frames() {
            let header = try DAGCBOR.itemLength(in: frame, at: 0)
            #expect(try header + DAGCBOR.itemLength(in: frame, at: header) == frame.count)
            #expect(DAGCBOR.encode(try DAGCBOR.decode(Array(frame[header...]))) == Array(frame[header...]))
        }
    }

    @Test func agreesWithJetstreamOpByOp() throws {
        struct Seen: Hashable {
            var (repo, rev, action, path) = ("", "", Action.create, "")
            var cid: CID?
            var record: Value?
        }
        func seen(_ events: [Event]) -> [Seen] {
            events.flatMap { event -> [Seen] in
                guard case .commit(let commit) = event else { return [] }
                return commit.ops.map {
                    Seen(
                        repo: commit.repo.description, rev: commit.rev.description, action: $0.action,
                        path: "\($0.collection)/\($0.rkey)", cid: $0.cid, record: $0.record)
                }
            }
        }
        let relay = seen(try Self.frames().map { try RelayFrame.decode($0, keep: .everything) })
        let lines = try SharedCorpus.bytes("expected_v1.jsonl").split(separator: UInt8(ascii: "\n"))
        let jetstream = seen(try lines.map { try JetstreamLine.decode(Array($0), keep: .everything) })
        #expect(relay.count == 150)
        #expect(relay == jetstream)
    }

    @Test(arguments: 0..<2) func survivesMutation(_ seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        let frames = try Self.frames()
        for _ in 0..<300 {
            var bytes = frames[Int.random(in: frames.indices, using: &random)]
            random.mutate(&bytes)
            _ = try? RelayFrame.decode(bytes, keep: .everything)
        }
    }
}
