import Foundation
import Simulators
import TestSupport
import Testing

/// The main job, by the built program, against the stand-in for Apple.
@Suite(.fewAtATime) struct ReplayCommandTests {
    private static let evening = GrainEvening(seed: 7, events: 300)

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func deliversAnEveningOnce() async throws {
        let evening = Self.evening
        let stage = try await ReplayStage(evening)
        let result = try await stage.replay()
        try #require(result.status == 0, "\(result.errors)")
        let expected = evening.expectations

        #expect(result.output.hasSuffix("}\n") && result.output.filter { $0 == "\n" }.count == 1)
        let summary = try object(result.output)
        #expect(
            Set(summary.keys) == ["events", "commits", "records", "skipped", "hooks", "push", "seconds"])
        let records = summary["records"] as? [String: Int]
        #expect(
            records == ["created": expected.created, "updated": expected.updated, "deleted": expected.deleted])
        #expect((summary["hooks"] as? [String: Int])?["errors"] == 0)
        let push = try #require(summary["push"] as? [String: Int])
        let deliveries = expected.deliveries(to: evening.devices)
        let removed = expected.removedDevices(of: evening.devices)
        #expect(push["sent"] == deliveries.count)
        #expect(push["removed"] == removed.count)
        #expect(push["failed"] == 0)
        #expect(Set(push.keys) == ["queued", "sent", "removed", "failed"])

        #expect(ReplayStage.keys(stage.simulator.received) == ReplayStage.keys(deliveries))
        let left = Set(evening.devices.map(\.token)).subtracting(removed.map(\.token))
        #expect(try stage.devicesLeft() == Set(left.map { String($0.suffix(8)) }))

        let before = stage.simulator.received.count
        let again = try await stage.replay()
        #expect(again.status == 0)
        #expect(stage.simulator.received.count == before)
        let secondRecords = try object(again.output)["records"] as? [String: Int]
        #expect(secondRecords == ["created": 0, "updated": 0, "deleted": 0])
    }

    @Test func endsTheSameAfterAKill() async throws {
        let evening = Self.evening
        let killed = AsyncStream.makeStream(of: Void.self)
        // Answers take their time, so that the replay cannot be over before it is killed.
        var faults = Faults()
        faults.delay = .milliseconds(200)...(.milliseconds(600))
        let stage = try await ReplayStage(evening, faults: faults, onPush: { _ in killed.continuation.yield() })
        let run = Task { try await stage.replay() }
        // The first push is out: somewhere in the middle of everything.
        for await _ in killed.stream { break }
        stage.hark.kill(SIGKILL)
        #expect(try await run.value.wasKilled)

        let result = try await stage.replay()
        try #require(result.status == 0, "\(result.errors)")
        let expected = ReplayStage.keys(evening.expectedPushes(on: evening.devices))
        var byID: [String: ReceivedPush] = [:]
        for push in stage.simulator.received where push.isAccepted { byID[push.apnsID] = push }
        #expect(ReplayStage.keys(Array(byID.values)) == expected)
    }

    @Test func stopsWhenAsked() async throws {
        let evening = GrainEvening(seed: 8, events: 2_000)
        let started = AsyncStream.makeStream(of: Void.self)
        let stage = try await ReplayStage(evening, onPush: { _ in started.continuation.yield() })
        let run = Task { try await stage.replay([]) }
        for await _ in started.stream { break }
        stage.hark.kill(SIGTERM)
        let stopped = try await run.value
        #expect(!stopped.wasKilled)
        // It may have been done already.
        if stopped.status != 0 {
            #expect(stopped.status == 1)
            #expect(stopped.errors.hasSuffix("the same command carries on from there\n"))
        }
        let result = try await stage.replay()
        #expect(result.status == 0, "\(result.errors)")
        var byID: [String: ReceivedPush] = [:]
        for push in stage.simulator.received where push.isAccepted { byID[push.apnsID] = push }
        #expect(
            ReplayStage.keys(Array(byID.values)) == ReplayStage.keys(evening.expectedPushes(on: evening.devices)))
    }

    @Test func runsHooksWithoutPush() async throws {
        let hark = try HarkProcess()
        try Self.evening.write(.frames, toFile: hark.folder.path + "/evening.frames")
        let result = try await hark.run(["replay", "evening.frames"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("push     off"))
        #expect(result.errors.split(separator: "\n").filter { $0.contains(#""op":"off""#) }.count == 1)
    }
}
