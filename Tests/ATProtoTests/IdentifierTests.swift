import Testing

@testable import ATProto

@Suite struct IdentifierTests {
    static func long(_ count: Int) -> String { String(repeating: "o", count: count) }

    @Test(arguments: [
        "did:plc:7iza6de2dwap2sbkpav7c6c6", "did:web:localhost%3A1234", "did:m:v", "did:method::::val",
        "did:method:" + long(2048 - 11),
    ])
    func acceptsDID(_ text: String) throws {
        #expect(try DID(text).description == text)
        #expect(try ATIdentifier(text).did == DID(text))
    }

    @Test(arguments: [
        "", "did", "did:", "did::x", "did:plc", "did:plc:", "did:PLC:x", "DID:plc:x", "did:m1:x", "did:plc:x:",
        "did:plc:x%",
        "did:plc:x/y", "did:plc:x y", "did:plc:é", "did:plc:x\0", "did:method:" + long(2048 - 10),
    ])
    func refusesDID(_ text: String) {
        #expect(throws: SyntaxError.self) { try DID(text) }
        #expect(!ATIdentifier.isValid(text))
    }

    @Test func didHasMethodAndIdentifier() throws {
        let did = try DID("did:web:example.com:user")
        #expect(did.method == "web")
        #expect(did.identifier == "example.com:user")
    }

    @Test(arguments: ["A.ISI.EDU", "a.co", "8.cn", "xn--ls8h.test", "4chan.o-g", "a." + long(63), "x.test"])
    func acceptsHandle(_ text: String) throws {
        #expect(try Handle(text).description == text)
        #expect(try ATIdentifier(text).handle == Handle(text))
    }

    @Test(arguments: [
        "", "org", ".a.b", "a..b", "a.b.", "john.0", "john.-", "-a.b", "a-.b", "jo_hn.test", "bücher.test", "127.0.0.1",
        "a b.c",
        "a." + long(64), "did:plc:x", "a.b\0", String(repeating: "a.", count: 126) + "bb",
    ])
    func refusesHandle(_ text: String) {
        #expect(throws: SyntaxError.self) { try Handle(text) }
    }

    @Test func handlesCompareInLowercase() throws {
        #expect(try Handle("Alice.Example.COM").normalized == Handle("alice.example.com"))
    }

    @Test(arguments: [
        ("app.bsky.feed.post", "app.bsky.feed", "post"), ("a.b.c", "a.b", "c"),
        ("one.2.three", "one.2", "three"), ("m.xn--masekowski-d0b.pl", "m.xn--masekowski-d0b", "pl"),
        ("com.example.f00", "com.example", "f00"),
    ])
    func splitsNSID(_ text: String, _ authority: String, _ name: String) throws {
        let nsid = try NSID(text)
        #expect(nsid.authority == authority)
        #expect(nsid.name == name)
    }

    @Test(arguments: [
        "", "com.example", "com.example.", ".a.b.c", "a..b.c", "com.example.3", "1.example.foo", "com.example.a-b",
        "com.example.a_b",
        "com.example-.foo", "com.exa💩ple.thing", "com.example.*", "com.example." + long(64),
        "com." + long(64) + ".foo",
        "com." + String(repeating: "middle.", count: 45) + "foo",
    ])
    func refusesNSID(_ text: String) {
        #expect(throws: SyntaxError.self) { try NSID(text) }
    }

    @Test(arguments: ["self", "...", ":", "-", "_", "~1.2-3_", "pre:fix", "3jzfcijpj2z2a", long(512)])
    func acceptsRecordKey(_ text: String) throws {
        #expect(try RecordKey(text).description == text)
    }

    @Test(arguments: ["", ".", "..", "a/b", "a b", "a+b", "%30", "é", "a\0", "dHJ1ZQ==", long(513)])
    func refusesRecordKey(_ text: String) {
        #expect(throws: SyntaxError.self) { try RecordKey(text) }
    }

    @Test(arguments: ["3jzfcijpj2z2a", "7777777777777", "3zzzzzzzzzzzz", "2222222222222", "jzzzzzzzzzzzz"])
    func acceptsTID(_ text: String) throws {
        let tid = try TID(text)
        #expect(tid.description == text)
        #expect(TID(microseconds: tid.microseconds, clockID: tid.clockID) == tid)
    }

    @Test(arguments: [
        "", "222", "3jzfcijpj2z2", "3jzfcijpj2z2aa", "3jzfcijpj2z21", "3JZFCIJPJ2Z2A", "kjzfcijpj2z2a", "3jzf-cij-pj2z",
    ])
    func refusesTID(_ text: String) {
        #expect(throws: SyntaxError.self) { try TID(text) }
    }

    @Test func tidsOrderByTime() throws {
        let tid = try TID("3mptbypluud2a")
        #expect(tid.microseconds == 1_783_175_887_514_441)
        #expect(tid.clockID == 6)
        let later = TID(microseconds: tid.microseconds + 1, clockID: 0)
        #expect(tid < later)
        #expect(tid.description < later.description)
    }

    @Test func splitsATURI() throws {
        let uri = try ATURI("at://did:plc:asdf123/com.atproto.feed.post/record")
        #expect(uri.authority == "did:plc:asdf123")
        #expect(uri.identifier.did == (try DID("did:plc:asdf123")))
        #expect(uri.collection == (try NSID("com.atproto.feed.post")))
        #expect(uri.rkey == (try RecordKey("record")))
        #expect(
            ATURI(
                repo: try DID("did:plc:asdf123"), collection: try NSID("com.atproto.feed.post"),
                rkey: try RecordKey("record")) == uri)

        let account = try ATURI("at://user.bsky.social")
        #expect(account.identifier.handle?.description == "user.bsky.social")
        #expect(account.collection == nil && account.rkey == nil)
        #expect(try ATURI("at://a.b/com.example.post").rkey == nil)
    }

    @Test(arguments: [
        "", "at://", "AT://did:plc:a", "at:///did:plc:a", "at://did:plc:a/", "at://did:plc:a/com.example.post/",
        "at://did:plc:a/com.example.post/a/b", "at://did:plc:a/com.example.post/.", "at://did:plc:a#frag",
        "at://did:plc:a?q=1",
        "at://did:plc:a/short/x", "at://name", "at://did:plc:a/com.example.post/%23", " at://did:plc:a",
        "at://did:plc:a ",
        "at://did:plc:a//x", "at://did:plc:a/com.example.post/" + long(8200),
    ])
    func refusesATURI(_ text: String) {
        #expect(throws: SyntaxError.self) { try ATURI(text) }
        #expect(!ATURI.isValid(text))
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1985-04-12T23:20:50.123Z", 482_196_050_123_000),
        ("1985-04-12T23:20:50.123456789Z", 482_196_050_123_456), ("2000-02-29T12:00:00+01:00", 951_822_000_000_000),
        ("1969-12-31T23:59:59.5Z", -500_000), ("0000-01-01T00:00:00.000Z", -62_167_219_200_000_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000_000), ("1985-04-12T23:20:50-07:00", 482_221_250_000_000),
    ])
    func readsDatetime(_ text: String, _ microseconds: Int64) throws {
        #expect(try Datetime(text).microseconds == microseconds)
    }

    @Test(arguments: [
        "", "1985-04-12", "1985-04-12T23:20:50", "1985-04-12T23:20:50z", "1985-04-12t23:20:50Z", "1985-04-12 23:20:50Z",
        "1985-04-12T23:20:50.Z", "1985-04-12T23:20:50-00:00", "1985-04-12T23:20:50+0100", "1985-04-12T23:20:50+01",
        "1985-13-12T23:20:50Z",
        "1985-00-12T23:20:50Z", "1985-04-31T23:20:50Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "1985-04-12T24:20:50Z",
        "1985-04-12T23:60:50Z", "1985-04-12T23:20:60Z", "0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z",
        "+1985-04-12T23:20:50Z",
        "1985-04-12T23:20:50+24:00", "1985-04-12T23:20:50+01:60", "1985—04-12T23:20:50Z", "1985-04-12T23:20:50Z ",
        "1985-04-12T23:20:50.123456789012345678901Z",
    ])
    func refusesDatetime(_ text: String) {
        #expect(throws: SyntaxError.self) { try Datetime(text) }
    }

    @Test func errorsNameTheKindAndTheReason() {
        #expect(throws: SyntaxError(kind: "tid", reason: "not 13 characters")) { try TID("x") }
    }
}

/// Every case of the protocol's own syntax corpus.
@Suite(.enabled(if: SharedCorpus.isPresent, "the shared corpus is absent")) struct IdentifierCorpusTests {
    static let checks: [(file: String, isValid: @Sendable (String) -> Bool)] = [
        ("did", { DID.isValid($0) && (try? DID($0))?.description == $0 }),
        ("nsid", { NSID.isValid($0) && (try? NSID($0))?.description == $0 }),
        ("recordkey", { RecordKey.isValid($0) && (try? RecordKey($0))?.description == $0 }),
        ("tid", { TID.isValid($0) && (try? TID($0))?.description == $0 }),
        ("handle", { Handle.isValid($0) && (try? Handle($0))?.description == $0 }),
        ("aturi", { ATURI.isValid($0) && (try? ATURI($0))?.description == $0 }),
        ("atidentifier", { ATIdentifier.isValid($0) && (try? ATIdentifier($0))?.description == $0 }),
        ("datetime", { Datetime.isValid($0) && (try? Datetime($0))?.description == $0 }),
    ]

    @Test func acceptsAndRefusesWhatTheCorpusDoes() throws {
        for (file, isValid) in Self.checks {
            for text in try SharedCorpus.cases("interop/syntax/\(file)_syntax_valid.txt") {
                #expect(isValid(text), "\(file) refuses \(text)")
            }
            for text in try SharedCorpus.cases("interop/syntax/\(file)_syntax_invalid.txt") {
                #expect(!isValid(text), "\(file) accepts \(text)")
            }
        }
        for text in try SharedCorpus.cases("interop/syntax/datetime_parse_invalid.txt") {
            #expect(!Datetime.isValid(text), "datetime accepts \(text)")
        }
    }
}
