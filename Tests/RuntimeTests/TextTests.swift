import Foundation
import HookKit
import Synchronization
import Testing

@testable import Runtime

@Suite struct TextTests {
    @Test func emitsALineACall() throws {
        let lines = Mutex<[String]>([])
        let emit = Emit.jsonLines { line in lines.withLock { $0.append(line) } }
        emit("push", "dead", ["reason": "Bad\n\"Topic\"\u{1B}[31m\0", "op": "two"])
        emit("push", "off")
        let written = lines.withLock { $0 }
        #expect(written.count == 2)
        for line in written {
            #expect(line.hasSuffix("}\n"))
            #expect(line.unicodeScalars.filter(\.steersTerminal).count == 1)
        }
        let first = try JSONSerialization.jsonObject(with: Data(written[0].utf8)) as? [String: String]
        #expect(first?["module"] == "push")
        #expect(first?["op"] == "dead")
        #expect(first?["op_"] == "two")
        #expect(first?["reason"] == "Bad\n\"Topic\"\u{1B}[31m\0")
        #expect(first?["time"]?.hasSuffix("Z") == true)
    }

    @Test func writesJSONInOrder() {
        let json = JSONText.object([
            ("b", .integer(-1)), ("a", .array([.null, .bool(true), .number(0.5), .number(.nan)])),
            ("s", .string("é\u{7F}\u{202E}/\\")), ("o", .optional(nil)),
        ])
        #expect(json.text == #"{"b":-1,"a":[null,true,0.5,null],"s":"é\u007f\u202e/\\","o":null}"#)
    }

    @Test func escapesWhatSteersATerminal() {
        #expect("Zoë 👩‍🚀 שלום".printable == "Zoë 👩‍🚀 שלום")
        #expect("a\u{1B}[2J\r\n\u{9B}\u{202E}b".printable == #"a\u{1b}[2J\u{d}\u{a}\u{9b}\u{202e}b"#)
    }

    @Test(arguments: [("--confg", "--config"), ("--jsno", "--json"), ("--datbase", "--database")])
    func suggestsTheNearest(_ typed: String, _ meant: String) {
        #expect(["--config", "--database", "--json"].nearest(to: typed) == meant)
    }

    @Test func suggestsNothingFarAway() { #expect(["--config", "--json"].nearest(to: "--verbose") == nil) }

    @Test func printsDurations() {
        #expect(Duration.milliseconds(1500).configured == "1500ms")
        #expect(Duration.seconds(120).configured == "2m")
        #expect(Duration.seconds(3650 * 86_400).configured == "3650d")
        #expect(Duration(configured: "2m") == .seconds(120))
        #expect(Duration(configured: "2 m") == nil)
        #expect(Duration(configured: "-2m") == nil)
        #expect(Duration(configured: "٣s") == nil)
    }
}
