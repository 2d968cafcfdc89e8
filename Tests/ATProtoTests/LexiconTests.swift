import Testing

@testable import ATProto

@Suite("Lexicons: documents")
struct LexiconTests {
    @Test func readsEveryType() throws {
        let lexicon = try Lexicon(json: Array(LexiconSamples.everything.utf8))
        #expect(lexicon.id.description == "com.example.thing")
        #expect(Set(lexicon.definitions.keys) == ["main", "tree", "leaf", "mark"])
        #expect(lexicon.record?.key == "tid")
        #expect(
            Lexicons([lexicon]).missing == ["com.example.absent", "com.example.absent#thing", "com.example.absent#x"])
    }

    @Test("Properties keep the document's order and know their columns")
    func listsColumns() throws {
        let properties = try #require(try Lexicon(json: Array(LexiconSamples.everything.utf8)).record).properties
        #expect(properties.prefix(5).map(\.name) == ["text", "count", "note", "flag", "always"])
        #expect(properties.count == 23)
        let kinds = Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.kind) })
        let expected: [String: RecordDefinition.Kind] = [
            "text": .string(indexed: false), "count": .integer, "flag": .boolean, "data": .bytes, "link": .cidLink,
            "image": .json,
            "any": .json, "tags": .json, "nested": .json, "tree": .json, "strong": .strongRef, "stranger": .json,
            "open": .json,
        ]
        for (name, kind) in expected { #expect(kinds[name] == kind, "\(name)") }
        let formats = try LexiconSamples.lexicon(
            properties:
                #""u":{"type":"string","format":"at-uri"},"d":{"type":"string","format":"did"},"t":{"type":"string","format":"tid"}"#
        )
        #expect(
            formats.record?.properties.map(\.kind) == [
                .string(indexed: true), .string(indexed: true), .string(indexed: false),
            ])
    }

    @Test("Lexicons of methods define no record", arguments: ["query", "procedure", "subscription", "permission-set"])
    func readsMethods(_ type: String) throws {
        let json =
            #"{"lexicon":1,"id":"com.example.get","defs":{"main":{"type":"\#(type)","whatever":1},"view":{"type":"object"}}}"#
        let lexicon = try Lexicon(json: Array(json.utf8))
        #expect(lexicon.record == nil && lexicon.definitions.keys.contains("view"))
        #expect(Lexicons([lexicon]).validate(.null, as: lexicon.id) == nil)
    }

    @Test(
        "A fault is named with its path",
        arguments: [
            ("[]", "must be an object"), ("{", "string"), (#"{"lexicon":1.5}"#, "float"),
            (#"{"lexicon":2,"id":"a.b.c","defs":{}}"#, "lexicon must be 1"),
            (#"{"lexicon":"1","id":"a.b.c"}"#, "lexicon: must be an integer"),
            (#"{"lexicon":1,"id":"abc","defs":{}}"#, "id must be an NSID"),
            (#"{"lexicon":1,"id":"a.b.c"}"#, "defs"), (#"{"lexicon":1,"id":"a.b.c","defs":{}}"#, "defs"),
            (#"{"lexicon":1,"id":"a.b.c","defs":{"main":{}}}"#, "defs.main: type is missing"),
            (#"{"lexicon":1,"id":"a.b.c","definitions":{}}"#, #"unknown member "definitions""#),
            (#"{"lexicon":1,"id":"a.b.c","defs":{"x":{"type":"record"}}}"#, "defs.x: a record must be the definition"),
            (#"{"lexicon":1,"id":"a.b.c","defs":{"a b":{"type":"token"}}}"#, "name must be"),
            (
                #"{"lexicon":1,"id":"a.b.c","defs":{"main":{"type":"ref","ref":"a.b.d"}}}"#,
                "defs.main: a definition cannot be a ref"
            ),
            (
                #"{"lexicon":1,"id":"a.b.c","defs":{"main":{"type":"record","key":"x","record":{}}}}"#,
                "defs.main: key must be"
            ),
            (#"{"lexicon":1,"id":"a.b.c","defs":{"main":{"type":"record"}}}"#, "defs.main: record is missing"),
            (
                #"{"lexicon":1,"id":"a.b.c","defs":{"main":{"type":"record","record":{"type":"string"}}}}"#,
                "defs.main.record: type must be object"
            ),
            (
                LexiconSamples.document(properties: #""x":{"type":"float"}"#),
                #"defs.main.record.properties.x: unknown type "float""#
            ),
            (LexiconSamples.document(properties: #""x":[]"#), "defs.main.record.properties.x: must be an object"),
            (
                LexiconSamples.document(properties: #""x":{"type":"string","maxLenght":3}"#),
                #"unknown member "maxLenght""#
            ),
            (
                LexiconSamples.document(properties: #""x":{"type":"string","maxLength":"3"}"#),
                "properties.x.maxLength: must be an integer"
            ),
            (
                LexiconSamples.document(properties: #""x":{"type":"string","maxLength":-1}"#),
                "maxLength must not be negative"
            ),
            (
                LexiconSamples.document(properties: #""x":{"type":"string","minLength":3,"maxLength":2}"#),
                "minLength is above maxLength"
            ),
            (
                LexiconSamples.document(properties: #""x":{"type":"string","format":"email"}"#),
                #"unknown format "email""#
            ),
            (
                LexiconSamples.document(properties: #""x":{"type":"string","enum":["a",1]}"#),
                "properties.x.enum[1]: must be a string"
            ),
            (
                LexiconSamples.document(properties: #""x":{"type":"boolean","default":1}"#),
                "properties.x.default: must be true or false"
            ),
            (LexiconSamples.document(properties: #""x":{"type":"array"}"#), "properties.x: items is missing"),
            (
                LexiconSamples.document(properties: #""x":{"type":"array","items":{"type":"nope"}}"#),
                "properties.x.items: unknown type"
            ),
            (LexiconSamples.document(properties: #""x":{"type":"ref"}"#), "properties.x: ref is missing"),
            (
                LexiconSamples.document(properties: ##""x":{"type":"ref","ref":"#nope"}"##),
                #"properties.x.ref: no definition "nope""#
            ),
            (LexiconSamples.document(properties: #""x":{"type":"ref","ref":"nope"}"#), "is no reference"),
            (LexiconSamples.document(properties: #""x":{"type":"union","refs":["a.b.c#"]}"#), "properties.x.refs[0]"),
            (
                LexiconSamples.document(properties: #""x":{"type":"union","closed":true,"refs":[]}"#),
                "a closed union needs refs"
            ),
            (LexiconSamples.document(properties: #""x":{"type":"token"}"#), "unknown type"),
            (LexiconSamples.document(properties: "", rest: #","required":["x"]"#), #"required "x" is no property"#),
            (LexiconSamples.document(properties: "", rest: #","nullable":["x"]"#), #"nullable "x" is no property"#),
        ])
    func refuses(_ json: String, _ message: String) {
        let failure = #expect(throws: DecodingFailure.self) { try Lexicon(json: Array(json.utf8)) }
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }

    @Test func laterDocumentStands() throws {
        let strict = try LexiconSamples.lexicon(properties: #""x":{"type":"integer"}"#)
        let loose = try LexiconSamples.lexicon(properties: #""x":{"type":"string"}"#)
        let record = try JSON.decode(Array(#"{"$type":"com.example.thing","x":"a"}"#.utf8))
        #expect(Lexicons([loose, strict]).validate(record, as: strict.id) != nil)
        #expect(Lexicons([strict, loose]).validate(record, as: strict.id) == nil)
    }
}

@Suite("Lexicons: string formats")
struct LexiconFormatTests {
    static let cid = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"
    static let accepted: [(StringFormat, [String])] = [
        (.atURI, ["at://did:plc:abc", "at://a.test/com.example.thing/self"]),
        (.atIdentifier, ["did:plc:abc", "a.test"]), (.cid, [cid]),
        (.datetime, ["1985-04-12T23:20:50.123Z", "1985-04-12T23:20:50+01:00"]), (.did, ["did:web:a.test"]),
        (.handle, ["a.test"]),
        (.nsid, ["com.example.thing"]), (.tid, ["3jzfcijpj2z2a"]), (.recordKey, ["self", "a:b"]),
        (
            .uri,
            [
                "https://a.test", "https://a.test/é?q#f", "did:plc:abc", "at://a.test", "mailto:a@b", "ipfs://Qm",
                "file:///x", "a:b",
            ]
        ),
        (
            .language,
            [
                "en", "pt-BR", "zh-Hant-TW", "sl-rozaj-biske", "de-CH-1901", "x-whatever", "en-a-bbb-x-a", "i-klingon",
                "ja-JP-u-ca-japanese", "zh-cmn-Hans-CN", "mn-Cyrl-MN", "es-419", "EN-us",
            ]
        ),
    ]
    static let refused: [(StringFormat, [String])] = [
        (.atURI, ["", "at://", "https://a.test", "at://a.test/x", "at://did:plc:abc#x"]),
        (.atIdentifier, ["", "a", "did:"]), (.cid, ["", "abc"]),
        (.datetime, ["", "1985-04-12", "1985-04-12T23:20:50.123", "1985-13-12T23:20:50Z", "1985-04-12t23:20:50Z"]),
        (.did, ["", "a.test", "did:x"]),
        (.handle, ["", "a", "a..b", "did:plc:abc"]), (.nsid, ["", "com.example", "com.example.3"]),
        (.tid, ["", "3jzfcijpj2z2", "0000000000000"]),
        (.recordKey, ["", ".", "..", "a/b", "a b"]),
        (
            .uri,
            [
                "", "a", ":a", "https:", "https://", "//a.test", "https://a b", "https://a\n", "1a:b", "a\u{e9}:b",
                "https://a\u{2003}b", "a:" + String(repeating: "b", count: 8191),
            ]
        ),
        (
            .language,
            [
                "", "e", "english-", "-en", "en--US", "en_US", "toolonglanguage", "en-a", "en-x", "1a",
                "jaja-JAJA-jajaja-1", "x", "a-DE", "ar-a-aaa-b", "en US",
            ]
        ),
    ]

    @Test(arguments: accepted) func accepts(_ format: StringFormat, _ texts: [String]) {
        for text in texts { #expect(format.accepts(text), "\(format) \(text)") }
    }

    @Test(arguments: refused) func refuses(_ format: StringFormat, _ texts: [String]) {
        for text in texts { #expect(!format.accepts(text), "\(format) \(text)") }
    }

    @Test("Each format has its cases")
    func coversAll() {
        #expect(Set(Self.accepted.map(\.0)) == Set(StringFormat.allCases))
        #expect(Set(Self.refused.map(\.0)) == Set(StringFormat.allCases))
    }
}
