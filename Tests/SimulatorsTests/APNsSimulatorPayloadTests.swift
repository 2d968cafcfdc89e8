import TestSupport
import Testing

@testable import Simulators

@Suite(.fewAtATime) struct APNsSimulatorPayloadTests {
    private func parse(_ text: String) throws -> PayloadValue { try PayloadParser.parse(Array(text.utf8)) }

    @Test func readsJSON() throws {
        let value = try parse(#" {"a":[1,-2,0.5,1e3,true,false,null,""],"é\u0000\ud83d\ude00":"\"\\\/\b\f\n\r\t"} "#)
        #expect(
            value["a"]
                == .array([
                    .integer(1), .integer(-2), .fraction(0.5), .fraction(1000), .bool(true), .bool(false), .null,
                    .string(""),
                ]))
        #expect(value["é\u{0}😀"] == .string("\"\\/\u{8}\u{C}\n\r\t"))
    }

    @Test(arguments: [
        #"{"a":"NUL \u0000 and \"quotes\" \\ 😀"}"#, "[]", "{}", "[1,2.5,null]", "-9223372036854775808",
    ])
    func writesWhatItReads(_ text: String) throws {
        #expect(String(decoding: compactJSON(try parse(text)), as: UTF8.self) == text)
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{\"a\":1,\"a\":2}", "01", "1.", ".5", "+1", "1e",
        "-", "tru", "nul", "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ude00\"", "\"\\ud800\\u0041\"",
        "\"\n\"", "1 2", "[1]]", "1e999", "NaN",
    ])
    func refusesBrokenJSON(_ text: String) {
        #expect(throws: PayloadParser.Failure.self) { try parse(text) }
    }

    @Test func refusesBytesThatAreNotUTF8() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] {
            #expect(throws: PayloadParser.Failure.self) { try PayloadParser.parse(bytes) }
        }
    }

    @Test func survivesMutations() throws {
        let seed = Array(
            #"{"aps":{"alert":{"title":"é\ud83d\ude00","loc-args":["a"]},"badge":1},"x":[-1.5e3,null]}"#.utf8)
        var random = SplitMix64(state: 7)
        var accepted = 0
        for _ in 0..<3000 {
            var bytes = seed
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...2, using: &random) == 0 ? Int.random(in: 0...20, using: &random) : 0)
            guard let value = try? PayloadParser.parse(bytes) else { continue }
            accepted += 1
            #expect(try PayloadParser.parse(compactJSON(value)) == value)
        }
        #expect(accepted > 50)
    }

    @Test func boundsDepth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try parse(nested(PayloadParser.maximumDepth))
        #expect(throws: PayloadParser.Failure.self) { try parse(nested(100_000)) }
    }

    private func check(_ text: String, pushType: String? = "alert") throws(Refusal) {
        let bytes = Array(text.utf8)
        let parsed = Result { () throws(PayloadParser.Failure) in try PayloadParser.parse(bytes) }
        try PayloadRules.check(bytes, parsed: parsed, pushType: pushType)
    }

    @Test(arguments: [
        #"{"aps":{}}"#, #"{"aps":{"alert":"hello"}}"#,
        #"{"aps":{"alert":{"title":"a","subtitle":"b","body":"c"},"sound":"default","badge":3},"uri":"at://x"}"#,
        #"{"aps":{"alert":{"title-loc-key":"k","title-loc-args":["a"],"loc-key":"k","loc-args":["a","b"]}}}"#,
        #"{"aps":{"sound":{"critical":1,"name":"bell","volume":0.5},"thread-id":"t","category":"c"}}"#,
        #"{"aps":{"content-available":1,"mutable-content":1,"interruption-level":"passive","relevance-score":0.25}}"#,
    ])
    func accepts(_ payload: String) throws { try check(payload) }

    @Test(arguments: [
        ("", APNsReason.payloadEmpty), ("[]", .payloadEmpty), ("{}", .payloadEmpty), ("hello", .payloadEmpty),
        (#"{"aps":1}"#, .payloadEmpty), (#"{"aps":{"alert":1}}"#, .payloadEmpty),
        (#"{"aps":{"alert":{"title":1}}}"#, .payloadEmpty), (#"{"aps":{"alert":{"loc-args":"a"}}}"#, .payloadEmpty),
        (#"{"aps":{"alert":{"loc-args":[1]}}}"#, .payloadEmpty), (#"{"aps":{"sound":1}}"#, .payloadEmpty),
        (#"{"aps":{"sound":{"volume":2}}}"#, .payloadEmpty), (#"{"aps":{"badge":"3"}}"#, .payloadEmpty),
        (#"{"aps":{"badge":-1}}"#, .payloadEmpty), (#"{"aps":{"badge":1.5}}"#, .payloadEmpty),
        (#"{"aps":{"content-available":true}}"#, .payloadEmpty), (#"{"aps":{"thread-id":1}}"#, .payloadEmpty),
        (#"{"aps":{"interruption-level":"loud"}}"#, .payloadEmpty),
        (#"{"aps":{"relevance-score":"1"}}"#, .payloadEmpty),
        (#"{"aps":{"alert":""# + String(repeating: "x", count: 4077) + #""}}"#, .payloadTooLarge),
    ])
    func refuses(payload: String, reason: APNsReason) {
        let refusal = #expect(throws: Refusal.self) { try check(payload) }
        #expect(refusal?.reason == reason)
    }

    @Test func allowsExactlyAsManyBytesAsApple() throws {
        func payload(_ count: Int) -> String {
            #"{"aps":{"alert":""# + String(repeating: "x", count: count - 20) + #""}}"#
        }
        try check(payload(4096))
        #expect(throws: Refusal.self) { try check(payload(4097)) }
        try check(payload(5120), pushType: "voip")
        #expect(throws: Refusal.self) { try check(payload(5121), pushType: "voip") }
    }
}
