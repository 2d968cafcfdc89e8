import Foundation
import Hooks
import Indexer
import Simulators
import Storage
import TestSupport
import Testing
import XRPC

@testable import Runtime

/// What the operator's page is told, of an evening that was replayed without push.
@Suite(.fewAtATime) struct OperatorDeskTests {
    private static let secret = String(repeating: "ab", count: 28) + "<b>tail<"

    private final class Stage {
        let folder: ConfigurationFolder
        let assembly: Assembly
        let desk: OperatorDesk

        init() async throws {
            folder = try ConfigurationFolder()
            try GrainEvening(seed: 31, events: 200).write(.jetstream, toFile: folder.path + "/evening.jsonl")
            assembly = try Assembly(folder.configuration("{}"), hooks: hooks, purpose: .replaying) { _ in }
            _ = try await Replay(assembly).run([folder.path + "/evening.jsonl"])
            desk = OperatorDesk(
                ServingFigures(assembly, version: "1"), hooks: hooks, did: "did:web:push.test",
                lifetime: .seconds(3600))
        }

        func register(_ count: Int, did: String) async throws {
            _ = try await assembly.database.write { transaction in
                for number in 0..<count {
                    let token = NewPushToken(
                        did: did, token: "\(number)" + OperatorDeskTests.secret, platform: "apns",
                        environment: "sandbox")
                    _ = try transaction.register(token, now: 1)
                }
            }
        }

        /// Dead rows, one a device.
        func die(_ did: String) async throws {
            let entry = OutboxEntry(
                did: did, hook: "OnCommitFollow", uri: "at://\(did)/social.grain.graph.follow/x", rev: "3k", place: 0,
                payload: Array("{}".utf8), collapseID: nil, priority: 10, pushType: "alert", expiresAt: .max)
            _ = try await assembly.database.write { transaction in
                _ = try transaction.finish(job: 0, notifications: [entry], now: 1)
                let claimed = try transaction.claimPushes(limit: 500, now: 2, leaseUntil: 3).pushes
                let ends = claimed.map {
                    PushSettlement(id: $0.id, tokenID: $0.device.id, outcome: .dead, error: "PayloadTooLarge")
                }
                try transaction.settle(ends, now: 2)
            }
        }
    }

    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        #expect(!String(decoding: bytes, as: UTF8.self).contains("abab"), "no whole token")
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func ids(_ rows: Any?) -> [Int] { (rows as? [[String: Any]])?.compactMap { $0["id"] as? Int } ?? [] }

    @Test func givesAnOverview() async throws {
        let stage = try await Stage()
        let view = try object(try await stage.desk.overview())
        let summary = stage.assembly.indexer.summary
        #expect(view["push"] as? Bool == false)
        let counts = try #require(view["counts"] as? [String: Int])
        #expect(counts["events"] == summary.events && counts["ops"] == summary.ops && summary.ops > 100)
        let source = try #require(view["source"] as? [String: Any])
        #expect(source["name"] as? String == "recording:evening.jsonl")
        #expect(source["lag"] is NSNull)
        #expect((source["cursor"] as? Int ?? 0) > 1000)
        let listed = try #require(view["hooks"] as? [[String: Any]])
        #expect(
            listed.compactMap { $0["name"] as? String } == ["OnCommitComment", "OnCommitFavorite", "OnCommitFollow"])
        #expect(listed.reduce(0) { $0 + ($1["runs"] as? Int ?? 0) } == summary.hookRuns)
        #expect((listed[0]["longestMilliseconds"] as? Double ?? 0) > 0)
        let skipped = try #require(view["skipped"] as? [[String: Any]])
        let sizes = skipped.compactMap { $0["count"] as? Int }
        #expect(sizes == sizes.sorted(by: >) && sizes.reduce(0, +) == summary.skipped.values.reduce(0, +))
        await stage.assembly.stop()
    }

    @Test func listsRetriesAndDrops() async throws {
        let stage = try await Stage()
        try await stage.register(70, did: "did:plc:ann")
        try await stage.die("did:plc:ann")
        let view = try object(try await stage.desk.overview())
        let first = ids(view["dead"])
        #expect(first == Array((61...70).reversed()))
        let older = ids(try object(try await stage.desk.deadLetters(before: 61))["pushes"])
        #expect(older == Array((11...60).reversed()))

        let retried = try object(try await stage.desk.retry(.ids([70, 999, 69])))
        #expect(retried["done"] as? Int == 2)
        let refused = try #require(retried["refused"] as? [[String: Any]])
        #expect(refused.first?["id"] as? Int == 999)
        #expect(refused.first?["reason"] as? String == "there is no such push")
        let dropped = try object(try await stage.desk.drop(.ids([68])))
        #expect(dropped["done"] as? Int == 1)
        #expect(try object(try await stage.desk.drop(.allDead))["done"] as? Int == 67)
        #expect(try object(try await stage.desk.retry(.allDead))["done"] as? Int == 0)
        let after = try object(try await stage.desk.overview())
        #expect(ids(after["dead"]).isEmpty)
        #expect(Set(ids(after["waiting"])) == [69, 70])
        await stage.assembly.stop()
    }

    @Test func listsDevicesInParts() async throws {
        let stage = try await Stage()
        try await stage.register(130, did: "did:plc:ann")
        try await stage.register(2, did: "did:web:ann.test%3A80")
        let first = try object(try await stage.desk.devices(did: "did:", after: nil))
        #expect(first["total"] as? [String: Int] == ["devices": 132, "accounts": 2])
        #expect(ids(first["devices"]) == Array(1...100))
        let next = try #require(first["next"] as? String)
        let second = try object(try await stage.desk.devices(did: "did:", after: next))
        #expect(ids(second["devices"]) == Array(101...132))
        #expect(second["next"] is NSNull)
        let devices = try #require(second["devices"] as? [[String: Any]])
        #expect(devices.allSatisfy { $0["tokenSuffix"] as? String == "<b>tail<" })
        #expect(ids(try object(try await stage.desk.devices(did: "did:web", after: nil))["devices"]) == [131, 132])
        for place in ["", "x", "1", "x did:plc:ann"] {
            await #expect(throws: XRPCError.self) { _ = try await stage.desk.devices(did: "", after: place) }
        }
        await stage.assembly.stop()
    }

    @Test func explains() async throws {
        let stage = try await Stage()
        try await stage.register(2, did: "did:plc:ann")
        try await stage.die("did:plc:ann")
        let uri = "at://did:plc:ann/social.grain.graph.follow/x"
        let told = try object(try await stage.desk.explanation(of: uri))
        #expect(told["push"] as? Bool == false)
        #expect((told["text"] as? String)?.hasPrefix("not stored") == true)
        let hook = try #require((told["hooks"] as? [[String: Any]])?.first)
        #expect(hook["summary"] as? String == "2 pushes")
        let pushes = try #require(hook["pushes"] as? [[String: Any]])
        #expect(pushes.allSatisfy { ($0["fate"] as? String)?.contains("PayloadTooLarge") == true })
        for uri in ["", "at://did:plc:ann", "https://example.com", "at://<script>", "at://did:plc:ann/a.b.c/\u{0}"] {
            let error = await #expect(throws: XRPCError.self) { _ = try await stage.desk.explanation(of: uri) }
            #expect(error?.status == 400)
        }
        await stage.assembly.stop()
    }
}
