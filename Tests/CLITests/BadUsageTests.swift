import TestSupport
import Testing

@Suite(.fewAtATime) struct BadUsageTests {
    static let cases: [[String]] = [
        [], ["nonsense"], ["tokens"], ["tokens", "ad"], ["replay"], ["replay", "--frobnicate", "x"],
        ["replay", "missing.jsonl"], ["replay", "."], ["replay", "x", "--config"], ["replay", "x", "--json=1"],
        ["check", "--config", "missing.json5"], ["check", "--config", "broken.json5"],
        ["check", "--config", "unknown-key.json5"], ["check", "--config", "no-key.json5"],
        ["check", "--config", "wrong-key.json5"], ["check", "--database", "nowhere/hark.db"],
        ["check", "--database", "broken.json5"], ["check", "surplus"],
        ["check", "--config", "wrong-lexicon.json5"], ["replay", "no-key.json5", "--config", "wrong-lexicon.json5"],
        ["simulate", "apns", "--answer", "999"], ["simulate", "apns", "--port", "70000"], ["simulate", "recording"],
        ["simulate", "recording", "--out", "x", "--events", "-1"], ["demo", "--config", "x"],
        ["tokens", "list", "--did", "nobody"], ["tokens", "remove"], ["tokens", "remove", "x"],
        ["tokens", "add", "--platform", "apns"], ["tokens", "add", "--did", "did:plc:ewvi7nxzyoun6zhxrhs64oiz"],
        ["tokens", "add", "--did", "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "--platform", "apns"],
        ["help", "nonsense"],
    ]

    @Test(arguments: cases) func getsOneLineAndExitCodeTwo(_ words: [String]) async throws {
        let hark = try HarkProcess()
        try hark.write("{ database: ", to: "broken.json5")
        try hark.write("{ databse: 'x' }", to: "unknown-key.json5")
        let apns = "keyId: 'A', teamId: 'B', bundleId: 'c.d'"
        try hark.write("{ push: { apns: { keyFile: 'gone.p8', \(apns) } } }", to: "no-key.json5")
        try hark.write("{ push: { apns: { keyFile: 'wrong-key.json5', \(apns) } } }", to: "wrong-key.json5")
        try hark.write("{ lexicons: '.' }", to: "wrong-lexicon.json5")
        try hark.write("{ \"lexicon\": 1 }", to: "lexicon.json")
        let result = try await hark.run(words)
        #expect(result.status == 2)
        #expect(!result.wasKilled)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("hark: "))
        #expect(result.errors.hasSuffix("\n"))
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test func namesEveryProblemOfAConfiguration() async throws {
        let hark = try HarkProcess()
        try hark.write("{\n  did: 'x',\n  batch: 0,\n  limits: { idle: 30 },\n}", to: "hark.json5")
        let result = try await hark.run(["check"])
        #expect(result.status == 2)
        let lines = result.errors.split(separator: "\n")
        try #require(lines.count == 3, "\(result.errors)")
        for (line, place) in zip(lines, ["2: did ", "3: batch ", "4: limits.idle "]) {
            #expect(line.hasPrefix("hark: hark.json5:\(place)"))
        }
    }

    /// What cannot be written is no fault of the command line.
    @Test func anUnwritablePlaceIsAFailure() async throws {
        let result = try await HarkProcess().run(["simulate", "recording", "--out", "no/x", "--events", "50"])
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("hark: "))
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test(arguments: [
        ["help"], ["--help"], ["--version"], ["help", "tokens"], ["replay", "--help"], ["help", "check"],
    ])
    func helpSucceeds(_ words: [String]) async throws {
        let result = try await HarkProcess().run(words)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(result.output.contains("hark"))
    }

    @Test func lostOutputIsAFailure() async throws {
        let hark = try HarkProcess()
        let shell = "\"$0\" help > /dev/full; echo \"full $?\"; \"$0\" help >&-; echo \"closed $?\"; \"$0\" help | true"
        let result = try await hark.runShell(shell)
        #expect(result.output == "full 1\nclosed 0\n")
        #expect(result.errors == "hark: cannot write to standard output: No space left on device\n")
    }

    @Test func readsAPipeOnce() async throws {
        let hark = try HarkProcess()
        let line = #"{"did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz","time_us":1,"kind":"identity","identity":{"did":"#
        try hark.write(
            line + #""did:plc:ewvi7nxzyoun6zhxrhs64oiz","seq":1,"time":"2026-01-01T00:00:00Z"}}"# + "\n", to: "x")
        let result = try await hark.runShell("cat x x x | \"$0\" replay /dev/stdin --json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix(#"{"events":3,"#))
    }
}
