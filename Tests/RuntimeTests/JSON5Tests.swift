import Testing

@testable import Runtime

@Suite struct JSON5Tests {
    private func parse(_ text: String) throws -> JSON5.Content { try JSON5Parser.parse(Array(text.utf8)).content }

    @Test(
        arguments: [
            ("1", 1), ("+1", 1), ("-1", -1), (".5", 0.5), ("5.", 5), ("1e3", 1000), ("1E-2", 0.01), ("0x1F", 31),
            ("-0x10", -16), ("0", 0), ("0.25", 0.25), ("Infinity", .infinity), ("-Infinity", -.infinity),
        ] as [(String, Double)])
    func readsNumbers(_ text: String, _ value: Double) throws { #expect(try parse(text) == .number(value)) }

    @Test(arguments: [
        ("''", ""), ("'a\"b'", "a\"b"), (#""\n\t\\\'\"\0\v""#, "\n\t\\'\"\0\u{B}"), (#"'\x41\u00e9'"#, "Aé"),
        (#"'\ud83d\ude00'"#, "😀"), ("'a\\\nb'", "ab"), ("'a\\\r\nb'", "ab"), ("'😀'", "😀"), (#"'\q'"#, "q"),
    ])
    func readsTexts(_ text: String, _ value: String) throws { #expect(try parse(text) == .string(value)) }

    @Test func keepsOrderAndLines() throws {
        let value = try JSON5Parser.parse(Array("\u{FEFF}{ // one\r\n b: 1,\r a_$1: [true,\n null], 'x y': {} }".utf8))
        guard case .object(let members) = value.content else {
            Issue.record("not an object")
            return
        }
        #expect(members.map(\.key) == ["b", "a_$1", "x y"])
        #expect(members.map(\.line) == [2, 3, 4])
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1", "[1 2]", "[,]", "{,}", "{a}", "{a:}", "{a:1,,}", "{a:1 b:2}", "{1:1}", "{a:1}}", "1 1",
        "'a", "'a\nb'", "\"a'", "'\\", #"'\x4'"#, #"'\u12'"#, #"'\ud800'"#, #"'\ud800\u0041'"#, #"'\udc00'"#, #"'\1'"#,
        "01", "-", "+", ".", "1e", "0x", "0xG", "1.2.3", "1a", "--1", "tru", "undefined", "/", "/*", "/* *", "// only",
        "{a:1,a:1}", "{a:1,'a':1}", "NaNa",
    ])
    func refuses(_ text: String) { #expect(throws: JSON5Error.self) { try JSON5Parser.parse(Array(text.utf8)) } }

    @Test func refusesWhatIsNotUTF8() {
        #expect(throws: JSON5Error.self) { try JSON5Parser.parse([0x27, 0xFF, 0x27]) }
    }

    @Test func boundsDepth() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSON5Error.self) { try JSON5Parser.parse(Array(deep.utf8)) }
    }
}
