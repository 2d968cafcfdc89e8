import Foundation
import Simulators
import TestSupport
import Testing

@Suite(.fewAtATime) struct QueueCommandTests {
    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func pushes(_ hark: HarkProcess, _ flags: [String] = []) async throws -> [[String: Any]] {
        let result = try await hark.run(["queue", "list", "--json", "--limit", "100000"] + flags)
        #expect(result.status == 0, "\(result.errors)")
        return try #require(try object(result.output)["pushes"] as? [[String: Any]])
    }

    @Test func listsRetriesAndExplains() async throws {
        let evening = GrainEvening(seed: 21, events: 200)
        let stage = try await ReplayStage(evening)
        let replay = try await stage.replay()
        try #require(replay.status == 0, "\(replay.errors)")
        let hark = stage.hark

        let all = try await pushes(hark)
        let sent = try await pushes(hark, ["--state", "sent"])
        #expect(sent.count == stage.simulator.received.filter(\.isAccepted).count)
        #expect(all.count > sent.count, "some went with their tokens")
        let first = try #require(sent.first)
        let (did, uri) = (try #require(first["did"] as? String), try #require(first["uri"] as? String))
        #expect(try await pushes(hark, ["--did", did]).allSatisfy { $0["did"] as? String == did })

        let list = try await hark.run(["queue", "list", "--limit", "3"])
        #expect(list.output.split(separator: "\n").count == 4)
        let told = try await hark.run(["queue", "explain", uri])
        #expect(told.status == 0, "\(told.errors)")
        #expect(told.output.contains("stored, rev ") || told.output.contains("deleted in rev "))
        #expect(told.output.contains("sent at "))
        let explained = try object(try await hark.run(["queue", "explain", uri, "--json"]).output)
        let hooks = try #require(explained["hooks"] as? [[String: Any]])
        #expect(hooks.contains { ($0["pushes"] as? [Any])?.isEmpty == false && $0["matches"] as? Bool == true })

        // What was sent is not sent again; what went with its token cannot be.
        let again = try await hark.run(["queue", "retry", "\(try #require(first["id"] as? Int))", "--json"])
        #expect(again.status == 1)
        #expect(again.output.contains("it is sent already"))
        let dead = try await hark.run(["queue", "retry", "--dead"])
        #expect(dead.output == "0 pushes due again\n")

        let texts = [list, told, again, dead].map { $0.output + $0.errors }
        for device in evening.devices { #expect(!texts.contains { $0.contains(device.token) }) }
    }

    @Test func explainsWhatIsNotThere() async throws {
        let hark = try HarkProcess()
        let uri = "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/social.grain.favorite/3k2yihcrp6f2c"
        let told = try await hark.run(["queue", "explain", uri])
        #expect(told.status == 0, "\(told.errors)")
        #expect(told.output.contains("not stored"))
        #expect(told.output.contains("OnCommitFavorite: has not run"))
        #expect(told.output.contains("push     off"))
        #expect(try await hark.run(["queue", "list"]).output == "no pushes\n")
    }

    @Test(arguments: [
        ["queue", "explain", "at://did:plc:x"], ["queue", "explain", "nonsense"], ["queue", "retry"],
        ["queue", "retry", "--dead", "1"], ["queue", "retry", "x"], ["queue", "drop"], ["queue", "drop", "0"],
        ["queue", "list", "--state", "ded"],
        ["queue", "list", "--limit", "0"], ["queue", "list", "--did", "x"], ["queue", "lst"],
    ])
    func refuses(_ words: [String]) async throws {
        let result = try await HarkProcess().run(words)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1)
    }
}
