import Testing

@testable import ATProto

private func decode(_ text: String, as dialect: JSON.Dialect = .plain) throws -> Value {
    try JSON.decode(Array(text.utf8), as: dialect)
}

private func encode(_ value: Value) -> String { String(decoding: JSON.encode(value), as: UTF8.self) }

private func map(_ members: KeyValuePairs<String, Value>) -> Value {
    .map(ValueMap(members.map { ValueMap.Entry(key: $0, value: $1) }) ?? ValueMap())
}

@Suite("JSON: reading")
struct JSONReadingTests {
    @Test(
        arguments: [
            ("null", .null), ("true", .bool(true)), (" \t\r\nfalse\n", .bool(false)), ("0", .integer(0)),
            ("-0", .integer(0)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("123.0", .integer(123)), ("-7.000", .integer(-7)), ("[]", .array([])), ("{}", map([:])),
            ("[1, [2], null]", .array([.integer(1), .array([.integer(2)]), .null])),
            (#"{"b":1,"a":2,"aa":{}}"#, map(["a": .integer(2), "b": .integer(1), "aa": map([:])])),
        ] as [(String, Value)])
    func reads(_ text: String, _ value: Value) throws {
        #expect(try decode(text) == value)
    }

    @Test(arguments: [
        (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"), (#""\u0000""#, "\0"),
        (#""x\u00e9\u20ac\uD83D\uDE00y""#, "x\u{e9}\u{20ac}\u{1F600}y"),
        ("\"\u{2028}\u{7f}é🧑‍🚀\u{200F}\"", "\u{2028}\u{7f}é🧑‍🚀\u{200F}"),
        (#""0123456789012345\n0123456789\u0041""#, "0123456789012345\n0123456789A"),
        (#""\uFFFF\uE000\uD7FF""#, "\u{FFFF}\u{E000}\u{D7FF}"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
    ])
    func readsStrings(_ text: String, _ string: String) throws {
        let read = try #require(try decode(text).string)
        #expect(Array(read.utf8) == Array(string.utf8))
    }

    @Test(arguments: [
        "", " ", "nul", "nulls", "TRUE", "[1,]", "[,1]", "[1 2]", "[1", "]", "{", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
        #"{"a" 1}"#, "{a:1}", #"{1:2}"#, "{'a':1}", "1 2", "{}{}", "[]x", "\u{FEFF}1", "\0", "1\0", "01", "-01", "-",
        "+1",
        ".5", "1.", "1.e3", "1e", "1e+", "0x10", "--1", "NaN", "Infinity", "1.5", "1e3", "1E-2", "123.0e0", "0.1",
        "-0.5",
        "9223372036854775808", "-9223372036854775809", "99999999999999999999999999", #"{"a":1,"a":1}"#,
        #"{"a":1,"\u0061":2}"#,
        #"{"x":{"bb":1,"a":0,"bb":2}}"#, "\"", "\"a", #""\"#, #""\x""#, #""\u""#, #""\u12""#, #""\u12G4""#,
        #""\U0041""#,
        "\"\n\"", "\"\t\"", "\"a\u{1f}b\"", "\"\0\"", #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#,
        #""\ud83d\n""#, #""\udc00\ud800""#, #"{"\ud800":1}"#, "/*c*/1", "[1]//",
    ])
    func refuses(_ text: String) {
        #expect(throws: DecodingFailure.self) { try decode(text) }
        #expect(throws: DecodingFailure.self) { try decode("[0,\(text)") }
    }

    @Test(
        "Bytes that are no UTF-8 are refused",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xE2, 0x82], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func refusesBadUTF8(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        for prefix in ["", "a", "0123456789abcdef", "\\n"] {
            let text = [quote] + Array(prefix.utf8) + bytes + [quote]
            #expect(throws: DecodingFailure.self) { try JSON.decode(text) }
            #expect(throws: JSONReader.Fault.self) { try skip(text) }
            let member = Array("{".utf8) + text + Array(":1}".utf8)
            #expect(throws: DecodingFailure.self) { try JSON.decode(member) }
        }
    }

    private func skip(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBufferPointer { buffer in
            var reader = JSONReader(buffer, dialect: .plain)
            try reader.skipValue()
            try reader.finish()
        }
    }

    @Test(
        "What is passed over needs to be JSON, but no value of the data model",
        arguments: [
            ("1.5e3", true), (#""\ud800""#, true), (#"{"a":1,"a":[-0.0,1E9]}"#, true), ("99999999999999999999", true),
            (#"{"$link":3}"#, true), ("01", false), ("1.", false), ("1e", false), (#""\q""#, false), ("[1,]", false),
            ("\"\u{1}\"", false),
            ("{1:1}", false), ("[", false), (#"{"a":tru}"#, false),
        ])
    func skips(_ text: String, _ isJSON: Bool) {
        let passed = (try? skip(Array(text.utf8))) != nil
        #expect(passed == isJSON)
    }

    @Test func boundsDepth() throws {
        let deepest = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(throws: Never.self) { try decode(deepest) }
        #expect(throws: DecodingFailure.self) { try decode("[\(deepest)]") }
        let link = #"{"$bytes":""}"#
        let leaf = String(repeating: "[", count: 32) + link + String(repeating: "]", count: 32)
        #expect(throws: Never.self) { try decode(leaf, as: .dataModel) }
        #expect(throws: DecodingFailure.self) { try decode(leaf, as: .plain) }
        let hostile = String(repeating: #"{"a":["#, count: 500_000)
        #expect(throws: DecodingFailure.self) { try decode(hostile) }
        #expect(throws: JSONReader.Fault.self) { try skip(Array(hostile.utf8)) }
    }

    @Test func boundsSizeAndCount() {
        let large = [UInt8](repeating: UInt8(ascii: " "), count: JSON.maximumSize + 1)
        #expect(throws: DecodingFailure.self) { try JSON.decode(large) }
        let many = "[" + String(repeating: "1,", count: JSON.maximumCount) + "1]"
        #expect(throws: DecodingFailure.self) { try decode(many) }
    }

    @Test("Many keys in the worst order, and the duplicate among them", arguments: [false, true])
    func sortsManyKeys(_ duplicate: Bool) throws {
        var keys = (0..<20_000).reversed().map { "k" + String($0 + 100_000) }
        if duplicate { keys.append("k100007") }
        let text = "{" + keys.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let read = try? decode(text).map
        #expect((read == nil) == duplicate)
        if !duplicate { #expect(read?.entries.map(\.key) == keys.sorted()) }
    }

    @Test func reportsTheByte() {
        #expect(throws: DecodingFailure("not a JSON value", offset: 6)) { try decode(#"{"a": x}"#) }
    }

    @Test func readsALineInsideALargerBuffer() throws {
        let buffer = Array("x[1]y".utf8)
        let value = try buffer.withUnsafeBufferPointer { bytes in
            try JSON.decode(UnsafeBufferPointer(rebasing: bytes[1..<4]))
        }
        #expect(value == .array([.integer(1)]))
        #expect(throws: DecodingFailure.self) { try JSON.decode(UnsafeBufferPointer(start: nil, count: 0)) }
    }
}

@Suite("JSON: the data model")
struct JSONDataModelTests {
    static let cid = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"

    @Test func readsLinksAndBytes() throws {
        let cid = Self.cid
        #expect(try decode(#"{"$link":"\#(cid)"}"#, as: .dataModel) == .link(try CID(cid)))
        #expect(try decode(#" { "\u0024link" : "\#(cid)" } "#, as: .dataModel) == .link(try CID(cid)))
        for text in ["AQID", "AQI", "AQI=", "AQ", "AQ==", ""] {
            let expected = [UInt8]([1, 2, 3].prefix(text.filter { $0 != "=" }.count * 3 / 4))
            #expect(try decode(#"{"$bytes":"\#(text)"}"#, as: .dataModel) == .bytes(expected))
        }
        #expect(try decode(#"{"$link":3,"x":1}"#, as: .plain)["$link"] == .integer(3))
    }

    @Test(arguments: [
        #"{"$link":1}"#, #"{"$link":null}"#, #"{"$link":"."}"#, #"{"$link":""}"#, #"{"$link":"\#(cid)","x":1}"#,
        #"{"x":1,"$link":"\#(cid)"}"#, #"{"$link":"\#(cid)","$link":"\#(cid)"}"#, #"{"$link":{"$link":"\#(cid)"}}"#,
        #"{"$bytes":[1]}"#, #"{"$bytes":"AQI","x":1}"#, #"{"x":1,"$bytes":"AQI"}"#, #"{"$bytes":"A"}"#,
        #"{"$bytes":"AQ="}"#,
        #"{"$bytes":"AR"}"#, #"{"$bytes":"AQJ"}"#, #"{"$bytes":"AQI=="}"#, #"{"$bytes":"AQID="}"#,
        #"{"$bytes":"===="}"#,
        #"{"$bytes":"A_-A"}"#, #"{"$bytes":"AQ ID"}"#, #"{"$bytes":"AQID\n"}"#, #"{"$type":null}"#, #"{"$type":1}"#,
        #"{"a":{"$type":""}}"#, #"{"$type":"blob"}"#,
        #"{"$type":"blob","ref":{"$link":"\#(cid)"},"mimeType":"a/b","size":"1"}"#,
        #"{"$type":"blob","ref":{"$link":"\#(cid)"},"mimeType":"a/b","size":-1}"#,
        #"{"$type":"blob","ref":{"$link":"\#(cid)"},"mimeType":"a/b"}"#,
        #"{"$type":"blob","ref":{"$link":"\#(cid)"},"mimeType":5,"size":1}"#,
        #"{"$type":"blob","ref":"\#(cid)","mimeType":"a/b","size":1}"#,
    ])
    func refuses(_ text: String) {
        #expect(throws: DecodingFailure.self) { try decode(text, as: .dataModel) }
        #expect(throws: DecodingFailure.self) { try decode("[\(text)]", as: .dataModel) }
    }

    @Test func acceptsABlob() throws {
        let text = #"{"$type":"blob","ref":{"$link":"\#(Self.cid)"},"mimeType":"image/jpeg","size":0}"#
        #expect(try decode(text, as: .dataModel)["ref"] == .link(try CID(Self.cid)))
    }

    @Test("A record from elsewhere is held to the same rules")
    func checksRecords() throws {
        #expect(DataModel.fault(of: .array([])) != nil)
        #expect(DataModel.fault(of: map(["a": .array([map(["$link": .string("x")])])])) != nil)
        #expect(DataModel.fault(of: map(["a": map(["$bytes": .string("")])])) != nil)
        #expect(DataModel.fault(of: map(["a": map(["$type": .string("")])])) != nil)
        #expect(DataModel.fault(of: map(["$type": .string("blob")])) != nil)
        #expect(DataModel.fault(of: map(["$type": .string("a.b.c"), "x": .array([.null])])) == nil)
    }

    @Test(
        "DAG-CBOR and back",
        arguments: [
            "\0", "a\0b", "🧑‍🚀🏳️‍🌈", "\u{202E}\u{200F}שלום", "\u{2028}\u{2029}\u{85}", "\u{7f}\u{1}\"\\/",
            "'; DROP TABLE x; --",
            "e\u{301}", "\u{e9}", "\u{FFFD}\u{FFFF}\u{10FFFF}",
        ])
    func keepsStrings(_ text: String) throws {
        let value = map([
            text: .string(text), "n": .array([.integer(.max), .integer(.min), .null, .bool(false)]),
            "b": .bytes([0, 255]),
            "l": .link(try CID(Self.cid)),
        ])
        let again = try JSON.decode(JSON.encode(try DAGCBOR.decode(DAGCBOR.encode(value))))
        #expect(DAGCBOR.encode(again) == DAGCBOR.encode(value))
        #expect(again.map?.entries.contains { Array($0.key.utf8) == Array(text.utf8) } == true)
    }
}

@Suite("JSON: writing")
struct JSONWritingTests {
    @Test(
        arguments: [
            (.null, "null"), (.bool(true), "true"), (.bool(false), "false"), (.integer(0), "0"), (.integer(-1), "-1"),
            (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"), (.array([]), "[]"),
            (.array([.integer(1), .string("")]), #"[1,""]"#), (map([:]), "{}"),
            (map(["bb": .null, "c": .bytes([1, 2]), "a": .integer(10)]), #"{"a":10,"c":{"$bytes":"AQI"},"bb":null}"#),
            (.bytes([251, 255]), #"{"$bytes":"+/8"}"#), (.bytes([]), #"{"$bytes":""}"#),
        ] as [(Value, String)])
    func writes(_ value: Value, _ text: String) { #expect(encode(value) == text) }

    @Test(arguments: [
        ("\0", #"\u0000"#), ("\u{8}\u{9}\u{a}\u{c}\u{d}", #"\b\t\n\f\r"#),
        ("\u{b}\u{1f}\u{10}", #"\u000b\u001f\u0010"#),
        ("\"\\/", #"\"\\/"#), ("é\u{7f}\u{2028}😀", "é\u{7f}\u{2028}😀"), ("tail\n", #"tail\n"#), ("\nhead", #"\nhead"#),
    ])
    func escapes(_ text: String, _ escaped: String) {
        #expect(Array(encode(.string(text)).utf8) == Array("\"\(escaped)\"".utf8))
    }

    @Test func appends() throws {
        var output = Array("x".utf8)
        JSON.append(.link(try CID(JSONDataModelTests.cid)), to: &output)
        JSON.append(string: "é\0", to: &output)
        #expect(String(decoding: output, as: UTF8.self) == #"x{"$link":"\#(JSONDataModelTests.cid)"}"é\u0000""#)
    }
}

@Suite("JSON: the protocol's own cases", .enabled(if: SharedCorpus.isPresent, "shared test data is absent"))
struct JSONCorpusTests {
    /// The cases of a corpus file, read without the reader under test.
    private func cases(_ name: String) throws -> [(note: String, json: [UInt8])] {
        let bytes = try SharedCorpus.bytes("interop/data-model/\(name).json")
        return try SharedCorpus.members("json", ofArrayIn: bytes)
    }

    @Test func acceptsValid() throws {
        let cases = try cases("data-model-valid")
        #expect(cases.count == 5)
        for (note, json) in cases {
            #expect(throws: Never.self, "\(note)") {
                let value = try JSON.decode(json)
                #expect(DataModel.fault(of: value) == nil)
            }
        }
    }

    @Test func refusesInvalid() throws {
        let cases = try cases("data-model-invalid")
        #expect(cases.count == 12)
        for (note, json) in cases {
            let fault = (try? JSON.decode(json)).map { DataModel.fault(of: $0) }
            #expect(fault != .some(nil), "\(note)")
        }
    }

    @Test func encodesFixtures() throws {
        let objects = try SharedCorpus.objects("interop/data-model/data-model-fixtures.json")
        let cases = try cases("data-model-fixtures")
        #expect(cases.count == objects.count && cases.count == 3)
        for (object, (_, json)) in zip(objects, cases) {
            let value = try JSON.decode(json)
            let block = DAGCBOR.encode(value)
            #expect(try JSON.decode(Array(#"{"$bytes":"\#(object["cbor_base64"] ?? "")"}"#.utf8)) == .bytes(block))
            #expect(CID.dagCBOR(of: block).description == object["cid"] as? String)
            #expect(try JSON.decode(JSON.encode(value)) == value)
        }
    }
}

extension SharedCorpus {
    /// Of an array of objects, each one's `note` and the bytes of its member `name`, as they stand in the file.
    static func members(_ name: String, ofArrayIn bytes: [UInt8]) throws -> [(note: String, json: [UInt8])] {
        try bytes.withUnsafeBufferPointer { buffer in
            var reader = JSONReader(buffer, dialect: .plain)
            var members: [(note: String, json: [UInt8])] = []
            try reader.expect(UInt8(ascii: "["), "an array")
            repeat {
                var (note, json) = ("", [UInt8]())
                try reader.members(of: "case") { (reader, key) throws(JSONReader.Fault) in
                    let start = reader.position
                    if key == "note" { note = try reader.string() } else { try reader.skipValue() }
                    if key == name { json = Array(reader.passed(since: start)) }
                }
                members.append((note, json))
            } while reader.take(UInt8(ascii: ","))
            return members
        }
    }
}
