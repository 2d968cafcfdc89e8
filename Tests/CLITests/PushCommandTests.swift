import Foundation
import Runtime
import Simulators
import TestSupport
import Testing

/// `hark push send`, with and without a Hark that runs beside it.
@Suite(.fewAtATime) struct PushCommandTests {
    private static let ada = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
    private static let live = String(repeating: "cafe", count: 16)
    private static let dead = String(repeating: "dead", count: 16)

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func register(_ token: String, with hark: HarkProcess) async throws {
        let result = try await hark.run(["tokens", "add", "--did", Self.ada, "--platform", "apns"], input: token)
        #expect(result.status == 0, "\(result.errors)")
    }

    private let flags = ["push", "send", "--did", ada, "--title", "Hello", "--body", "Did it reach you?"]

    @Test func deliversItselfWhereNobodyElseDoes() async throws {
        let hark = try HarkProcess()
        let (simulator, environment) = try ServeStage.apple(in: hark.folder.path, deadTokens: [Self.dead])
        defer { simulator.stop() }
        try await register(Self.live, with: hark)
        let further = [
            "--data", "type=test", "--data", "empty=", "--collapse-id", "c", "--badge", "3", "--sound", "none",
            "--subtitle", "now", "--thread-id", "t", "--priority", "considerate", "--lifetime", "5m",
        ]
        let result = try await hark.run(flags + further, environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("…cafecafe  production  sent at "))
        let push = try #require(simulator.received.first)
        #expect(simulator.received.count == 1)
        #expect(push.title == "Hello")
        #expect(push.body == "Did it reach you?")
        #expect(push.data == ["type": "test", "empty": "", "did": Self.ada])
        #expect(push.collapseID == "c")
        #expect(push.priority == 5)

        // Apple's own words, and a failure for the one device that was not reached.
        try await register(Self.dead, with: hark)
        let second = try await hark.run(flags + ["--json"], environment: environment)
        #expect(second.status == 1)
        let report = try object(second.output)
        #expect(report["sent"] as? Int == 1)
        let devices = try #require(report["devices"] as? [[String: Any]])
        #expect(devices.map { $0["state"] as? String } == ["sent", "removed"])
        #expect(devices.map { $0["suffix"] as? String } == ["cafecafe", "deaddead"])
        #expect(devices.last?["reason"] as? String == "Unregistered")
        #expect(second.errors.contains("1 of 2 devices not reached"))
        for text in [result.output, result.errors, second.output, second.errors] {
            #expect(!text.contains(Self.live) && !text.contains(Self.dead))
        }
    }

    @Test func aServerDeliversWhereOneRuns() async throws {
        try await ServeStage.run { stage in
            try await register(Self.live, with: stage.hark)
            // No way to Apple but the server's.
            let result = try await stage.hark.run(flags, environment: ["HARK_APNS_HOST": "127.0.0.1:1"])
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.hasPrefix("…cafecafe  production  sent at "))
            #expect(stage.simulator.received.map(\.title) == ["Hello"])
            #expect(stage.simulator.received.map(\.data) == [["did": Self.ada]])
        }
    }

    /// The other Hark has no way to send, and ends while the push waits.
    @Test func takesOverFromAHarkThatEnds() async throws {
        let hark = try HarkProcess()
        let (simulator, environment) = try ServeStage.apple(in: hark.folder.path)
        defer { simulator.stop() }
        try await register(Self.live, with: hark)
        var configuration = Configuration()
        configuration.database = hark.folder.path + "/hark.db"
        let other = try Assembly(configuration, hooks: []) { _ in }
        async let result = hark.run(flags + ["--wait", "10m"], environment: environment)
        let queue = try PushQueue(database: configuration.database)
        while try queue.list(state: "available", did: Self.ada, limit: 1).cells.isEmpty {
            try await Task.sleep(for: .milliseconds(20))
        }
        queue.close()
        #expect(simulator.received.isEmpty)
        await other.stop()
        #expect(try await result.status == 0)
        #expect(simulator.received.map(\.title) == ["Hello"])
    }

    @Test func nobodyIsRegistered() async throws {
        let hark = try HarkProcess()
        let (simulator, environment) = try ServeStage.apple(in: hark.folder.path)
        defer { simulator.stop() }
        let result = try await hark.run(flags + ["--json"], environment: environment)
        #expect(result.status == 1)
        #expect(result.errors == "hark: \(Self.ada) has no device registered\n")
        #expect((try object(result.output)["devices"] as? [Any])?.isEmpty == true)
    }

    @Test func whoHasTurnedPushesOffIsNotReached() async throws {
        let hark = try HarkProcess()
        let (simulator, environment) = try ServeStage.apple(in: hark.folder.path)
        defer { simulator.stop() }
        try await register(Self.live, with: hark)
        for words in [["push", "off", "--type", "a"], ["from", "follows", "--type", "b"]] {
            #expect(try await hark.run(["settings"] + words + ["--did", Self.ada]).status == 0)
        }
        let off = try await hark.run(flags + ["--data", "type=a"], environment: environment)
        #expect(off.status == 1)
        #expect(
            off.errors.hasPrefix("hark: to \(Self.ada): the recipient has turned this off, for the type a, at "),
            "\(off.errors)")
        #expect(simulator.received.isEmpty)
        // Nobody's act caused it: whose acts may notify does not matter.
        let sent = try await hark.run(flags + ["--data", "type=b"], environment: environment)
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(simulator.received.count == 1)
    }

    @Test func aRefusedKeyIsSaidAtOnce() async throws {
        let hark = try HarkProcess()
        let (simulator, environment) = try ServeStage.apple(in: hark.folder.path)
        defer { simulator.stop() }
        let file = hark.folder.appendingPathComponent("hark.json5")
        let text = try String(contentsOf: file, encoding: .utf8)
        try hark.write(text.replacing(/keyId: "\w+"/, with: "keyId: \"ABCDEFGHIJ\""), to: "hark.json5")
        try await register(Self.live, with: hark)
        let result = try await hark.run(flags + ["--wait", "10m"], environment: environment)
        #expect(result.status == 1)
        #expect(result.output.contains("key stopped: InvalidProviderToken"))
        #expect(result.errors.contains("the device not reached: what is not sent stays queued"))
        // What stays queued can be given up, once.
        let dropped = try await hark.run(["queue", "drop", "1", "--json"])
        #expect(dropped.status == 0, "\(dropped.errors)")
        #expect(try object(dropped.output)["dropped"] as? Int == 1)
        let again = try await hark.run(["queue", "drop", "1", "2"])
        #expect(again.status == 1)
        #expect(again.output == "0 pushes dropped\n")
        #expect(again.errors == "hark: push 1 cannot be dropped: it is dropped already (and 1 more not)\n")
        #expect(try await hark.run(["queue", "drop", "--dead"]).output == "0 pushes dropped\n")
        let due = try await hark.run(["queue", "retry", "1"])
        #expect(due.output == "1 push due again\n")
    }

    @Test(arguments: [
        ["--did", "nobody", "--title", "x"], ["--title", "x"], ["--did", ada], ["--did", ada, "--data", "x"],
        ["--did", ada, "--title", "x", "--data", "aps=1"], ["--did", ada, "--title", "x", "--badge", "many"],
        ["--did", ada, "--title", "x", "--data", "a=1", "--data", "a=2"],
        ["--did", ada, "--title", "x", "--priority", "urgent"], ["--did", ada, "--title", "x", "--wait", "long"],
        ["--did", ada, "--title", "x", "--collapse-id", String(repeating: "x", count: 65)],
        ["--did", ada, "--title", "x", "--background"],
    ])
    func refuses(_ words: [String]) async throws {
        let hark = try HarkProcess()
        let (simulator, environment) = try ServeStage.apple(in: hark.folder.path)
        defer { simulator.stop() }
        let result = try await hark.run(["push", "send"] + words, environment: environment)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(simulator.received.isEmpty)
    }

    @Test func needsPush() async throws {
        let result = try await HarkProcess().run(flags)
        #expect(result.status == 2)
        #expect(result.errors == "hark: push is off: the configuration has no push section\n")
    }
}
