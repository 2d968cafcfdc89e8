import ATProto
import Foundation
import Simulators
import TestSupport
import Testing

@Suite(.fewAtATime) struct SettingsCommandTests {
    private static let ada = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"

    private func settings(_ hark: HarkProcess, _ words: [String], did: String = ada) async throws -> String {
        let result = try await hark.run(["settings"] + words + ["--did", did])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.isEmpty)
        return result.output
    }

    @Test func showsAndChanges() async throws {
        let hark = try HarkProcess()
        #expect(try await settings(hark, ["show"]) == "\(Self.ada): push is on\n")
        #expect(try await settings(hark, ["push", "off"]) == "\(Self.ada): push is off: nothing is queued\n")
        #expect(
            try await settings(hark, ["push", "off", "--type", "gallery-favorite", "--json"])
                == #"{"did":"\#(Self.ada)","push":false,"types":[{"type":"gallery-favorite","push":false,"from":"all"}]}"#
                + "\n")
        _ = try await settings(hark, ["push", "on"])
        _ = try await settings(hark, ["from", "follows", "--type", "gallery-favorite"])
        _ = try await settings(hark, ["from", "follows", "--type", "\u{202E}x"])
        _ = try await settings(hark, ["from", "follows", "--type", "story-comment"])
        let shown = try await settings(hark, ["show"])
        #expect(
            shown == """
                \(Self.ada): push is on
                  gallery-favorite  off  from follows
                  story-comment     on   from follows
                  \\u{202e}x         on   from follows

                """)
        _ = try await settings(hark, ["forget", "--type", "\u{202E}x"])
        #expect(
            try await settings(hark, ["forget", "--type", "gallery-favorite", "--json"])
                == #"{"did":"\#(Self.ada)","push":true,"types":[{"type":"story-comment","push":true,"from":"follows"}]}"#
                + "\n")
        #expect(try await settings(hark, ["show"], did: "did:web:b.test") == "did:web:b.test: push is on\n")
    }

    @Test(arguments: [
        ["settings"], ["settings", "shw"], ["settings", "show"], ["settings", "show", "--did", "ada"],
        ["settings", "show", "more", "--did", ada], ["settings", "push", "--did", ada],
        ["settings", "push", "maybe", "--did", ada], ["settings", "push", "on", "off", "--did", ada],
        ["settings", "push", "off", "--did", ada, "--type", ""],
        ["settings", "push", "off", "--did", ada, "--type", String(repeating: "é", count: 65)],
        ["settings", "from", "follows", "--did", ada], ["settings", "from", "follow", "--did", ada, "--type", "a"],
        ["settings", "from", "--did", ada, "--type", "a"], ["settings", "forget", "--did", ada],
        ["settings", "show", "--did", ada, "--type", "a"], ["settings", "push", "on", "--type", "a"],
    ])
    func refuses(_ words: [String]) async throws {
        let result = try await HarkProcess().run(words)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(
            result.errors.hasPrefix("hark: ") && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    /// A whole evening with settings: who turned something off gets none of it, and `queue explain` says why.
    @Test func replayHonoursThem() async throws {
        let evening = GrainEvening(seed: 33, events: 400)
        let stage = try await ReplayStage(evening)
        let hark = stage.hark
        let living = Set(evening.devices.filter { $0.deadAnswer == nil }.map(\.did))
        let counts = Dictionary(grouping: evening.expectations.pushes.filter { living.contains($0.recipient) }) {
            $0.recipient
        }.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.key)
        try #require(counts.count >= 2)
        let (off, selective) = (counts[0], counts[1])
        _ = try await settings(hark, ["push", "off"], did: off)
        _ = try await settings(hark, ["push", "off", "--type", "gallery-favorite"], did: selective)

        let replay = try await stage.replay()
        #expect(replay.status == 0, "\(replay.errors)")
        let wanted = evening.expectations.deliveries(to: evening.devices).filter { delivery in
            let push = delivery.push
            return push.recipient != off
                && !(push.recipient == selective && push.data["type"] == "gallery-favorite")
        }
        #expect(ReplayStage.keys(stage.simulator.received) == ReplayStage.keys(wanted))
        #expect(wanted.count < evening.expectations.deliveries(to: evening.devices).count)
    }

    /// From follows: only the acts of those whom the recipient follows at that moment arrive.
    @Test func explainsWhatWasKeptBack() async throws {
        let stage = try await ReplayStage(GrainEvening(seed: 1, events: 1))
        let hark = stage.hark
        let (ada, bob, cay) = (JetstreamWriter.did("ada"), JetstreamWriter.did("bob"), JetstreamWriter.did("cay"))
        let token = String(repeating: "a1b2c3d4e5f60718", count: 4)
        let device = try await hark.run(
            ["tokens", "add", "--did", ada, "--platform", "apns"], input: token)
        #expect(device.status == 0, "\(device.errors)")
        _ = try await settings(hark, ["from", "follows", "--type", "gallery-favorite"], did: ada)
        _ = try await settings(hark, ["push", "off", "--type", "gallery-comment"], did: ada)

        let gallery = "at://\(ada)/social.grain.gallery/g"
        let time: Value = "2026-07-04T12:00:00Z"
        var story = JetstreamWriter()
        story.commit(.create, "social.grain.gallery", by: ada, rkey: "g", ["title": "t", "createdAt": time])
        story.commit(
            .create, "social.grain.graph.follow", by: ada, rkey: "f", ["subject": .string(bob), "createdAt": time])
        story.commit(
            .create, "social.grain.favorite", by: bob, rkey: "1", ["subject": .string(gallery), "createdAt": time])
        story.commit(
            .create, "social.grain.favorite", by: cay, rkey: "1", ["subject": .string(gallery), "createdAt": time])
        story.commit(
            .create, "social.grain.comment", by: bob, rkey: "1",
            ["subject": .string(gallery), "text": "x", "createdAt": time])
        story.commit(
            .create, "social.grain.graph.follow", by: cay, rkey: "f", ["subject": .string(ada), "createdAt": time])
        try hark.write(story.text, to: "story.jsonl")
        let replay = try await hark.run(["replay", "story.jsonl", "--json"], environment: stage.environment)
        #expect(replay.status == 0, "\(replay.errors)")

        let received = stage.simulator.received.filter(\.isAccepted)
        #expect(
            Set(received.map(\.data)) == [
                ["type": "gallery-favorite", "uri": gallery],
                ["type": "follow", "did": cay],
            ])
        #expect(received.count == 2)
        let answers = [
            ("\(bob)/social.grain.favorite/1", "sent at "),
            ("\(cay)/social.grain.favorite/1", "to \(ada): not followed: "),
            (
                "\(bob)/social.grain.comment/1",
                "to \(ada): the recipient has turned this off, for the type gallery-comment"
            ),
        ]
        for (record, answer) in answers {
            let told = try await hark.run(["queue", "explain", "at://\(record)"])
            #expect(told.output.contains(answer), "\(told.output)")
        }

        _ = try await settings(hark, ["push", "off"], did: ada)
        story.commit(
            .create, "social.grain.favorite", by: bob, rkey: "2", ["subject": .string(gallery), "createdAt": time])
        try hark.write(story.text, to: "story.jsonl")
        _ = try await hark.run(["replay", "story.jsonl"], environment: stage.environment)
        #expect(stage.simulator.received.count == 2)
        let told = try await hark.run(["queue", "explain", "at://\(bob)/social.grain.favorite/2", "--json"])
        #expect(told.output.contains(#""reason":"turned-off""#), "\(told.output)")
        #expect(try await hark.run(["tokens", "list", "--did", ada]).output.contains("…\(token.suffix(8))"))
        let check = try await hark.run(["check"], environment: stage.environment)
        #expect(check.output.contains("follows     social.grain.graph.follow, subject"), "\(check.output)")
    }
}
