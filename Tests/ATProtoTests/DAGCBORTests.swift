import Crypto
import Testing

@testable import ATProto

@Suite struct DAGCBORTests {
    static let link = "d82a5825000155122058" + String(repeating: "91", count: 31)

    static func bytes(_ hex: String) throws -> [UInt8] { try Base16.decode(hex) }

    static let valid: [(String, Value)] = [
        ("00", .integer(0)), ("17", .integer(23)), ("1818", .integer(24)), ("18ff", .integer(255)),
        ("190100", .integer(256)),
        ("19ffff", .integer(65_535)), ("1a00010000", .integer(65_536)), ("1affffffff", .integer(0xffff_ffff)),
        ("1b0000000100000000", .integer(0x1_0000_0000)), ("1b7fffffffffffffff", .integer(.max)), ("20", .integer(-1)),
        ("37", .integer(-24)), ("3818", .integer(-25)), ("3b7fffffffffffffff", .integer(.min)), ("40", .bytes([])),
        ("43010203", .bytes([1, 2, 3])), ("60", .string("")), ("63610062", .string("a\0b")),
        ("6365cc81", .string("e\u{301}")),
        ("64f09f91bb", .string("👻")), ("80", .array([])), ("820180", .array([.integer(1), .array([])])),
        ("a0", .map(ValueMap())),
        ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null),
        (
            "a361610161620262616103",
            .map(
                ValueMap(canonical: [
                    .init(key: "a", value: .integer(1)), .init(key: "b", value: .integer(2)),
                    .init(key: "aa", value: .integer(3)),
                ]))
        ),
    ]

    @Test(arguments: valid) func decodesAndEncodes(_ hex: String, _ value: Value) throws {
        #expect(try DAGCBOR.decode(Self.bytes(hex)) == value)
        #expect(Base16.encode(DAGCBOR.encode(value)) == hex)
        #expect(try DAGCBOR.itemLength(in: [0xff] + Self.bytes(hex) + [0], at: 1) == hex.utf8.count / 2)
    }

    @Test func decodesLinks() throws {
        let value = try DAGCBOR.decode(Self.bytes(Self.link))
        #expect(value.link?.codec == CID.Codec.raw)
        #expect(Base16.encode(DAGCBOR.encode(value)) == Self.link)
    }

    static let refused: [(String, String)] = [
        ("", "end inside a value"), ("1800", "shortest"), ("1817", "shortest"), ("1900ff", "shortest"),
        ("1a0000ffff", "shortest"),
        ("1b00000000ffffffff", "shortest"), ("3801", "shortest"), ("5801ff", "shortest"), ("780161", "shortest"),
        ("980100", "shortest"),
        ("b801616100", "shortest"), ("d9002a4100", "shortest"), ("1b8000000000000000", "64 bits"),
        ("3b8000000000000000", "64 bits"),
        ("18", "inside a number"), ("1b00", "inside a number"), ("1c", "no CBOR"), ("1f", "indefinite"),
        ("5fff", "indefinite"), ("7fff", "indefinite"),
        ("9fff", "indefinite"), ("bfff", "indefinite"), ("ff", "indefinite"), ("41", "inside a string"),
        ("6261", "inside a string"),
        ("5bffffffffffffffff", "inside a string"), ("7b7fffffffffffffff", "inside a string"),
        ("9bffffffffffffffff", "more items"),
        ("bbffffffffffffffff", "more items"), ("9a7fffffff00", "more items"), ("8200", "more items"),
        ("a16161", "end inside a value"),
        ("f90000", "float"), ("fa00000000", "float"), ("fb3ff8000000000000", "float"), ("f7", "simple"),
        ("e0", "simple"), ("f818", "simple"), ("f8ff", "simple"),
        ("a10000", "no text"), ("a1410000", "no text"), ("a2616201616100", "sorted"), ("a2616100616101", "sorted"),
        ("a262616100616200", "sorted"),
        ("0000", "behind the end"), ("c000", "tag"), ("c24101", "tag"), ("d9d9f700", "tag"), ("d82a00", "byte string"),
        ("d82a40", "0x00"), ("d82a4100", "0x00"),
        ("d82a6100", "byte string"), ("d82a450001551200", "CIDv1"),
        ("d82a5824015512205891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03", "0x00"),
        ("62c328", "UTF-8"), ("61ff", "UTF-8"), ("62c080", "UTF-8"), ("63eda080", "UTF-8"), ("64f4908080", "UTF-8"),
        ("61c3", "UTF-8"), ("a161ff00", "UTF-8"),
    ]

    @Test(arguments: refused) func refuses(_ hex: String, _ reason: String) throws {
        let bytes = try Self.bytes(hex)
        let error = #expect(throws: DecodingFailure.self) { try DAGCBOR.decode(bytes) }
        #expect(error?.description.contains(reason) == true, "\(hex): \(error as Any)")
        #expect(throws: DecodingFailure.self) { try Self.skip(bytes) }
    }

    @Test func nestsThirtyTwoDeepAndNoDeeper() throws {
        for (open, bottom) in [([0x81], [0x80]), ([0xa1, 0x61, 0x61], [0xa0])] as [([UInt8], [UInt8])] {
            func nested(_ depth: Int) -> [UInt8] { Array(repeatElement(open, count: depth - 1).joined()) + bottom }
            #expect(throws: Never.self) { try DAGCBOR.decode(nested(32)) }
            #expect(throws: DecodingFailure.self) { try DAGCBOR.decode(nested(33)) }
            #expect(throws: DecodingFailure.self) { try Self.skip(nested(33)) }
            #expect(throws: DecodingFailure.self) { try DAGCBOR.decode(nested(100_000)) }
            #expect(try DAGCBOR.itemLength(in: nested(100_000), at: 0) == nested(100_000).count)
        }
    }

    @Test func lengthsOfItemsThatDecodingRefuses() throws {
        for hex in ["fb3ff8000000000000", "f97e00", "1801", "f7", "c24101", "a2616201616100", "62c328", "d9d9f700"] {
            #expect(try DAGCBOR.itemLength(in: Self.bytes(hex), at: 0) == hex.utf8.count / 2)
        }
        for hex in ["", "ff", "5fff", "81", "a1", "a100", "9bffffffffffffffff", "c0", "1c", "bb7fffffffffffffff"] {
            #expect(throws: DecodingFailure.self) { try DAGCBOR.itemLength(in: Self.bytes(hex), at: 0) }
        }
        #expect(throws: DecodingFailure.self) { try DAGCBOR.itemLength(in: [0], at: 1) }
        #expect(throws: DecodingFailure.self) { try DAGCBOR.itemLength(in: [0], at: -1) }
    }

    @Test func countsItsValues() throws {
        func array(_ count: Int) -> [UInt8] {
            [0x9a] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - $0 * 8)) }
                + Array(repeating: 0, count: count)
        }
        #expect(try DAGCBOR.decode(array(DAGCBOR.maximumCount - 1)).array?.count == DAGCBOR.maximumCount - 1)
        #expect(throws: DecodingFailure.self) { try DAGCBOR.decode(array(DAGCBOR.maximumCount)) }
    }

    @Test func errorsSayWhere() {
        #expect(throws: DecodingFailure("a float", offset: 2)) { try DAGCBOR.decode([0x82, 0x00, 0xf9, 0, 0]) }
    }

    /// Passes over the one item that `bytes` should hold, as strictly as decoding it.
    static func skip(_ bytes: [UInt8]) throws(DecodingFailure) {
        try bytes.withUnsafeBufferPointer { buffer throws(DecodingFailure) in
            var reader = CBORReader(buffer)
            try reader.skip(depth: DAGCBOR.maximumDepth)
            try reader.end()
        }
    }
}

/// Mutations of valid input: never a crash, and what is accepted encodes to the same bytes.
@Suite struct DAGCBORMutationTests {
    static let seeds: [[UInt8]] = {
        let link = Value.link(CID.dagCBOR(of: [0xa0]))
        let map = { (entries: [(String, Value)]) in
            Value.map(ValueMap(entries.map { ValueMap.Entry(key: $0.0, value: $0.1) }) ?? ValueMap())
        }
        let post = map([
            ("$type", .string("app.bsky.feed.post")), ("text", .string("hé 👋\0")),
            ("langs", .array([.string("en"), .null])),
            ("reply", map([("root", map([("cid", link)])), ("n", .integer(-300))])), ("bytes", .bytes(Array(0..<30))),
        ])
        let numbers = Value.array(
            (0..<64).map { .integer(Int64(bitPattern: 1 << $0) &- 1) } + [.bool(true), .bool(false)])
        return [post, numbers, link].map(DAGCBOR.encode)
    }()

    @Test(arguments: 0..<4) func survivesMutation(_ seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var accepted = 0
        for _ in 0..<5_000 {
            var bytes = Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) { random.mutate(&bytes) }
            let value = try? DAGCBOR.decode(bytes)
            #expect((value == nil) == ((try? DAGCBORTests.skip(bytes)) == nil))
            _ = try? DAGCBOR.itemLength(in: bytes, at: 0)
            guard let value else { continue }
            accepted += 1
            #expect(DAGCBOR.encode(value) == bytes)
        }
        #expect(accepted > 100)
    }
}

/// Every case of the DASL corpus, by the rules of DAG-CBOR, DASL's CIDs and the protocol.
@Suite(.enabled(if: SharedCorpus.isPresent, "the shared corpus is absent")) struct DAGCBORCorpusTests {
    /// Valid DAG-CBOR that the protocol narrows away: floats, and integers beyond 64 bits with a sign.
    static let narrowed: Set = [
        "fb3ff8000000000000", "fb0000000000000000", "fb0000000000000001", "1bffffffffffffffff", "3bffffffffffffffff",
    ]
    static let files = [
        "short_form", "floats", "cid", "integer_range", "utf8", "numeric_reduction", "indefinite", "concat", "tags",
        "map_keys", "simple",
    ]

    @Test(arguments: files) func agreesWithDASL(_ file: String) throws {
        for fixture in try SharedCorpus.objects("dasl/fixtures/cbor/\(file).json") {
            let tags = Set(fixture["tags"] as? [String] ?? [])
            guard !tags.isDisjoint(with: ["basic", "dag-cbor", "dasl-cid"]) else { continue }
            let hex = try #require(fixture["data"] as? String)
            let bytes = try Base16.decode(hex)
            let value = try? DAGCBOR.decode(bytes)
            let isValid = fixture["type"] as? String == "roundtrip" && !Self.narrowed.contains(hex)
            #expect((value != nil) == isValid, "\(fixture["name"] ?? ""): \(hex)")
            if let value { #expect(DAGCBOR.encode(value) == bytes) }
        }
    }

    @Test func dataModelFixturesHashToTheirCIDs() throws {
        for fixture in try SharedCorpus.objects("interop/data-model/data-model-fixtures.json") {
            let bytes = try Crypto.Base64.decode(try #require(fixture["cbor_base64"] as? String))
            #expect(DAGCBOR.encode(try DAGCBOR.decode(bytes)) == bytes)
            #expect(CID.dagCBOR(of: bytes).description == fixture["cid"] as? String)
        }
    }
}
