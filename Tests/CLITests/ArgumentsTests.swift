import Runtime
import Testing

@testable import CLI

@Suite struct ArgumentsTests {
    private static let command = Command(
        name: "try", summary: "", operands: .oneOrMore("FILE"),
        options: [.config, .json, Option(name: "--answer", value: "EFFECT", help: "", repeats: true)]
    ) { _ in }

    @Test func takesFlagsAnywhere() throws {
        let arguments = try Arguments(["a", "--config", "-x.json5", "--json", "b"], for: Self.command)
        #expect(arguments.operands == ["a", "b"])
        #expect(arguments["--config"] == "-x.json5")
        #expect(arguments.has("--json"))
        #expect(arguments["--answer"] == nil)
    }

    @Test func takesEqualsSignsAndTheEndOfFlags() throws {
        let arguments = try Arguments(["--config=a=b", "--", "--json", "-"], for: Self.command)
        #expect(arguments["--config"] == "a=b")
        #expect(arguments.operands == ["--json", "-"])
        #expect(!arguments.has("--json"))
    }

    @Test func keepsTheOrderOfRepeatedFlags() throws {
        let arguments = try Arguments(["f", "--answer", "410", "--answer=500"], for: Self.command)
        #expect(arguments.flags.map(\.value) == ["410", "500"])
    }

    @Test func helpNeedsNoOperand() throws {
        #expect(try Arguments(["-h"], for: Self.command).has("--help"))
    }

    @Test(
        arguments: [
            ([], "try needs a FILE"),
            (["--jsn", "f"], "unknown flag --jsn: did you mean --json?"),
            (["-v", "f"], "unknown flag -v: \"hark help try\" lists those that try takes"),
            (["f", "--config"], "--config needs a value: --config FILE"),
            (["f", "--config", "--json"], "--config needs a value: --config FILE"),
            (["f", "--config="], "--config needs a value: --config FILE"),
            (["f", "--json=yes"], "--json takes no value"),
            (["f", "--json", "--json"], "--json is given twice"),
            (["f", "--config", "a", "--config", "b"], "--config is given twice"),
        ] as [([String], String)])
    func refuses(_ words: [String], _ message: String) {
        let error = #expect(throws: OperatorError.self) { try Arguments(words, for: Self.command) }
        #expect(error?.description == message)
    }

    @Test(
        arguments: [
            ([], "no command given: \"hark help\" lists them"),
            (["replya"], "unknown command \"replya\": did you mean replay?"),
            (["\u{1B}[2J"], "unknown command \"\\u{1b}[2J\": \"hark help\" lists them"),
        ] as [([String], String)])
    func refusesCommands(_ words: [String], _ message: String) {
        let error = #expect(throws: OperatorError.self) { try Command.find(words) }
        #expect(error?.description == message)
    }

    @Test func everyCommandExplainsItself() throws {
        for command in Command.all {
            #expect(!command.summary.isEmpty)
            #expect(Set(command.allOptions.map(\.name)).count == command.allOptions.count)
            #expect(try Command.find(command.name.split(separator: " ").map(String.init)).command.name == command.name)
            for line in command.usage.split(separator: "\n") { #expect(line.count <= 120) }
        }
    }

    @Test func writesNumbersForPeople() {
        #expect(1_234_567.grouped == "1,234,567")
        #expect((-1_000).grouped == "-1,000")
        #expect(1.of("event") == "1 event")
        #expect(
            Duration.milliseconds(1_005).shortSeconds == "1.01 s"
                || Duration.milliseconds(1_005).shortSeconds == "1.00 s")
        #expect(
            Duration.milliseconds(83_170).shortSeconds == "83.1 s"
                || Duration.milliseconds(83_170).shortSeconds == "83.2 s")
    }

    @Test func breaksLongLists() {
        #expect(labelled("x  ", ["a", "b"]) == ["x  a, b"])
        #expect(labelled("x  ", []) == ["x  "])
        let long = String(repeating: "a", count: 60)
        #expect(labelled("x  ", [long, long, "b"]) == ["x  \(long),", "   \(long), b"])
    }
}
