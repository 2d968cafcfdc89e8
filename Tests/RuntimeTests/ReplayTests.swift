import Hooks
import Simulators
import TestSupport
import Testing

@testable import Runtime

@Suite(.fewAtATime) struct ReplayTests {
    private static let evening = GrainEvening(seed: 11, events: 150)

    /// A folder with the evening, its devices, and an assembly that pushes to `port`.
    private func assembly(in folder: ConfigurationFolder, port: UInt16) async throws -> Assembly {
        try Self.evening.write(.frames, toFile: folder.path + "/evening.frames")
        let tokens = try DeviceTokens(database: folder.path + "/hark.db")
        for device in Self.evening.devices {
            _ = try await tokens.add(
                NewDevice(
                    did: device.did, token: device.token, platform: "apns", environment: "sandbox", topic: nil,
                    label: nil))
        }
        tokens.close()
        let configuration = try folder.configuration(
            "{push: {apns: {keyFile: 'key.p8', keyId: 'A', teamId: 'B', bundleId: 'c.d'}}}",
            environment: ["HARK_APNS_HOST": "127.0.0.1:\(port)"])
        return try Assembly(configuration, hooks: hooks, purpose: .replaying) { _ in }
    }

    @Test func saysWhatIsLeftWhenTheGatewayIsOutOfReach() async throws {
        let folder = try ConfigurationFolder()
        let assembly = try await assembly(in: folder, port: 9)
        let error = await #expect(throws: RunError.self) {
            try await Replay(assembly, patience: .milliseconds(200)).run([folder.path + "/evening.frames"])
        }
        #expect(error?.description.contains("could not be delivered") == true)
        await assembly.stop()
    }

    @Test func givesUpAtOnceWhenCancelled() async throws {
        let folder = try ConfigurationFolder()
        let assembly = try await assembly(in: folder, port: 9)
        let replay = Task { try await Replay(assembly).run([folder.path + "/evening.frames"]) }
        replay.cancel()
        await #expect(throws: CancellationError.self) { try await replay.value }
        await assembly.stop()
    }

    @Test func reportsEachBatch() async throws {
        let folder = try ConfigurationFolder()
        try Self.evening.write(.jetstream, toFile: folder.path + "/evening.jsonl")
        let configuration = try folder.configuration("{batch: 10}")
        let assembly = try Assembly(configuration, hooks: []) { _ in }
        let shares = AsyncStream.makeStream(of: Double.self)
        let path = folder.path + "/evening.jsonl"
        let summary = try await Replay(assembly).run([path, path]) { shares.continuation.yield($0.share) }
        shares.continuation.finish()
        await assembly.stop()
        var seen: [Double] = []
        for await share in shares.stream { seen.append(share) }
        #expect(seen.count > 2)
        #expect(seen == seen.sorted())
        #expect(seen.last == 1)
        #expect(summary.events > 0)
        #expect(!summary.pushIsOn)
    }
}
