import Testing

@testable import ATProto

@Suite("Lexicons: records")
struct LexiconValidationTests {
    private let lexicons: Lexicons
    private let collection: NSID

    init() throws {
        let lexicon = try Lexicon(json: Array(LexiconSamples.everything.utf8))
        lexicons = Lexicons([lexicon])
        collection = lexicon.id
    }

    /// A record with the required properties and `members`.
    private func validate(_ members: String) throws -> Violation? {
        let json = #"{"$type":"com.example.thing","text":"hi","count":1\#(members.isEmpty ? "" : ",")\#(members)}"#
        return lexicons.validate(try JSON.decode(Array(json.utf8)), as: collection)
    }

    static let cid = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"
    static func blob(_ mimeType: String, _ size: Int) -> String {
        #"{"$type":"blob","ref":{"$link":"\#(cid)"},"mimeType":"\#(mimeType)","size":\#(size)}"#
    }

    @Test(arguments: [
        "", #""unheard":[1]"#, #""note":null"#, #""note":"x""#, #""flag":false"#, #""always":true"#, #""three":3"#,
        #""seven":7"#,
        #""color":"\u00e9""#, #""fixed":"x""#, #""data":{"$bytes":"AQID"}"#, #""link":{"$link":"\#(cid)"}"#,
        #""image":\#(blob("image/png", 100))"#,
        #""image":\#(blob("text/plain", 0))"#, #""image":{"cid":"\#(cid)","mimeType":"image/png"}"#,
        #""file":\#(blob("x/y", 1_000_000))"#,
        #""any":{}"#, #""any":{"$type":"a.b.c","x":null}"#, #""tags":["abc","é"]"#, #""rows":[[1],[]]"#,
        #""nested":{"a":1,"b":null}"#,
        #""tree":{"name":"x","children":[{"name":"y","twin":{"name":"z"}}]}"#,
        #""strong":{"uri":"at://did:plc:abc/a.b.c/x","cid":"\#(cid)"}"#,
        #""stranger":"anything""#, #""stranger":{"x":[null]}"#, #""stranger":7"#, #""mark":"com.example.thing#mark""#,
        #""open":{"$type":"com.example.thing#leaf","size":1}"#, #""open":{"$type":"com.example.unheard","size":"x"}"#,
        #""open":{"$type":"com.example.absent","size":"x"}"#, #""open":{"$type":"com.example.absent#main"}"#,
        #""closed":{"$type":"com.example.thing#leaf"}"#, #""closed":{"$type":"com.example.absent#x","y":1}"#,
    ])
    func accepts(_ members: String) throws {
        #expect(try validate(members) == nil)
    }

    @Test(
        arguments: [
            (#""note":7"#, .type, "$.note"), (#""flag":null"#, .null, "$.flag"), (#""flag":"true""#, .type, "$.flag"),
            (#""flag":1"#, .type, "$.flag"),
            (#""always":false"#, .closed, "$.always"), (#""three":4"#, .closed, "$.three"),
            (#""seven":8"#, .closed, "$.seven"),
            (#""seven":"7""#, .type, "$.seven"), (#""color":"blue""#, .closed, "$.color"),
            (#""color":"e\u0301""#, .closed, "$.color"),
            (#""fixed":"X""#, .closed, "$.fixed"), (#""data":{"$bytes":""}"#, .length, "$.data"),
            (#""data":{"$bytes":"AQIDBA"}"#, .length, "$.data"),
            (#""data":"AQID""#, .type, "$.data"), (#""link":"\#(cid)""#, .type, "$.link"),
            (#""image":\#(blob("image/png", 101))"#, .blob, "$.image.size"),
            (#""image":\#(blob("video/mp4", 1))"#, .blob, "$.image.mimeType"),
            (#""image":\#(blob("text/plainx", 1))"#, .blob, "$.image.mimeType"),
            (#""image":{"cid":"\#(cid)","mimeType":"video/mp4"}"#, .blob, "$.image.mimeType"),
            (#""file":"\#(cid)""#, .type, "$.file"),
            (#""file":{"ref":{"$link":"\#(cid)"},"mimeType":"a/b","size":1}"#, .type, "$.file"),
            (#""file":{"$type":"a.b.c"}"#, .type, "$.file"),
            (#""any":"x""#, .type, "$.any"), (#""any":[]"#, .type, "$.any"), (#""any":null"#, .null, "$.any"),
            (#""tags":[]"#, .length, "$.tags"),
            (#""tags":["a","b","c"]"#, .length, "$.tags"), (#""tags":["a","four"]"#, .length, "$.tags[1]"),
            (#""tags":["a",null]"#, .null, "$.tags[1]"),
            (#""tags":{}"#, .type, "$.tags"), (#""rows":[[1],["x"]]"#, .type, "$.rows[1][0]"),
            (#""nested":{"b":1}"#, .required, "$.nested.a"),
            (#""nested":{"a":null}"#, .null, "$.nested.a"), (#""nested":[]"#, .type, "$.nested"),
            (#""tree":{"name":"x","children":[{"name":"y"},{"twin":1}]}"#, .required, "$.tree.children[1].name"),
            (#""tree":{"name":"x","twin":{"name":"y","twin":{"name":3}}}"#, .type, "$.tree.twin.twin.name"),
            (#""strong":{"uri":"at://did:plc:abc/a.b.c/x"}"#, .required, "$.strong.cid"),
            (#""strong":{"uri":"x","cid":"\#(cid)"}"#, .format, "$.strong.uri"),
            (#""strong":{"uri":"at://did:plc:abc","cid":"x"}"#, .format, "$.strong.cid"),
            (#""strong":"x""#, .type, "$.strong"),
            (#""stranger":null"#, .null, "$.stranger"), (#""mark":1"#, .type, "$.mark"),
            (#""open":{"size":1}"#, .required, "$.open.$type"),
            (#""open":"x""#, .type, "$.open"),
            (#""open":{"$type":"com.example.thing#leaf","size":"x"}"#, .type, "$.open.size"),
            (#""open":{"$type":"com.example.thing#tree"}"#, .required, "$.open.name"),
            (#""closed":{"$type":"com.example.unheard"}"#, .closed, "$.closed.$type"),
            (#""closed":{"$type":"com.example.thing#tree","name":"x"}"#, .closed, "$.closed.$type"),
        ] as [(String, Violation.Reason, String)])
    func refuses(_ members: String, _ reason: Violation.Reason, _ path: String) throws {
        let violation = try validate(members)
        #expect(violation?.reason == reason && violation?.path == path, "\(String(describing: violation))")
    }

    @Test(
        "The whole record",
        arguments: [
            (#"{"$type":"com.example.thing","text":"hi"}"#, nil, ""),  // `count` has a default.
            (#"{"$type":"com.example.thing","count":1}"#, .required, "$.text"),
            (#"{"text":"hi","count":1}"#, .typeMismatch, "$.$type"),
            (#"{"$type":"com.example.other","text":"hi"}"#, .typeMismatch, "$.$type"),
            (#"{"$type":"com.example.thing#main","text":"hi"}"#, .typeMismatch, "$.$type"), ("[]", .type, "$"),
            ("null", .type, "$"), (#""x""#, .type, "$"),
            (#"{"$type":"com.example.thing","text":"hi","count":-3}"#, .range, "$.count"),
            (#"{"$type":"com.example.thing","text":"hi","count":6}"#, .range, "$.count"),
            (#"{"$type":"com.example.thing","text":"hi","count":5}"#, nil, ""),
            (#"{"$type":"com.example.thing","text":null}"#, .null, "$.text"),
        ] as [(String, Violation.Reason?, String)])
    func checksRecords(_ json: String, _ reason: Violation.Reason?, _ path: String) throws {
        let violation = lexicons.validate(try JSON.decode(Array(json.utf8)), as: collection)
        #expect(violation?.reason == reason, "\(String(describing: violation))")
        if let violation { #expect(violation.path == path) }
    }

    /// `text` has 1 to 40 bytes and 1 to 10 graphemes.
    @Test(
        arguments: [
            ("", .length), ("a", nil), ("1234567890", nil), ("12345678901", .length), ("👩‍👩‍👧‍👧", nil), ("👩‍👩‍👧‍👧👩‍👩‍👧‍👧", .length),
            ("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", nil),
            ("éééééééééé", nil), ("ééééééééééé", .length),
            ("\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", nil), ("\0", nil), ("🇦🇹🇦🇹", nil),
            ("12345678901234567890123456789012345678901", .length),
        ] as [(String, Violation.Reason?)])
    func countsBytesAndGraphemes(_ text: String, _ reason: Violation.Reason?) throws {
        var json = Array(#"{"$type":"com.example.thing","text":"#.utf8)
        JSON.append(string: text, to: &json)
        json.append(UInt8(ascii: "}"))
        #expect(lexicons.validate(try JSON.decode(json), as: collection)?.reason == reason)
    }

    @Test("A lexicon of the set is found by its NSID")
    func resolvesAcrossDocuments() throws {
        let absent = #"""
            {"lexicon":1,"id":"com.example.absent","defs":{"main":{"type":"object","required":["size"],"properties":{"size":{"type":"integer"}}},
             "thing":{"type":"integer","maximum":3},"x":{"type":"object","properties":{"back":{"type":"ref","ref":"com.example.thing"}}}}}
            """#
        let set = Lexicons([
            try Lexicon(json: Array(absent.utf8)), try Lexicon(json: Array(LexiconSamples.everything.utf8)),
        ])
        #expect(set.missing.isEmpty)
        func reason(_ members: String) throws -> Violation.Reason? {
            let json = #"{"$type":"com.example.thing","text":"hi",\#(members)}"#
            return set.validate(try JSON.decode(Array(json.utf8)), as: collection)?.reason
        }
        #expect(try reason(#""stranger":3"#) == nil)
        #expect(try reason(#""stranger":4"#) == .range)
        #expect(try reason(#""open":{"$type":"com.example.absent"}"#) == .required)
        #expect(try reason(#""closed":{"$type":"com.example.absent#x","back":{"text":"a"}}"#) == nil)
        #expect(try reason(#""closed":{"$type":"com.example.absent#x","back":{"text":""}}"#) == .length)
    }

    @Test("Keys are compared as bytes: the Kelvin sign is no K")
    func comparesKeysAsBytes() throws {
        let lexicon = try LexiconSamples.lexicon(properties: #""K":{"type":"integer"}"#, rest: #","required":["K"]"#)
        let record = try JSON.decode(Array(#"{"$type":"com.example.thing","\u212a":1}"#.utf8))
        #expect(Lexicons([lexicon]).validate(record, as: lexicon.id)?.reason == .required)
    }

    @Test("Deep values meet a limit, not the end of the stack")
    func boundsRecursion() throws {
        var tree = Value.map(ValueMap())
        for _ in 0..<500 {
            tree = .map(ValueMap(canonical: [.init(key: "name", value: .string("")), .init(key: "twin", value: tree)]))
        }
        let record = ValueMap([
            .init(key: "$type", value: .string("com.example.thing")), .init(key: "text", value: .string("a")),
            .init(key: "tree", value: tree),
        ])
        #expect(lexicons.validate(.map(try #require(record)), as: collection)?.reason == .depth)
    }

    @Test func knowsNothingOfOtherCollections() throws {
        #expect(lexicons.validate(.null, as: try NSID("com.example.other")) == nil)
    }
}
