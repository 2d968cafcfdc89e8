import Foundation
import Simulators
import TestSupport
import Testing

/// `kill -9` again and again while hundreds of pushes are in flight: nothing is missing, and twice comes only what was
/// in flight. `hark-bench crash` does the same at large, at random instants.
@Suite(.fewAtATime, .timeLimit(.minutes(10))) struct RepeatedKillTests {
    @Test func losesNothingThroughManyKills() async throws {
        let evening = GrainEvening(seed: 21, events: 1_500)
        let pushes = AsyncStream.makeStream(of: Void.self)
        var faults = Faults()
        faults.delay = .milliseconds(40)...(.milliseconds(300))
        let stage = try await ReplayStage(evening, faults: faults, onPush: { _ in pushes.continuation.yield() })
        var instants = pushes.stream.makeAsyncIterator()
        // The last connection that the gateway had seen at the end of each process.
        var ends: [Int] = []
        for count in [1, 40, 3, 120, 90, 200] {
            let run = Task { try await stage.replay() }
            for _ in 0..<count { await instants.next() }
            // What the process before had under way may have been counted already.
            while !stage.hark.kill(SIGKILL) { await Task.yield() }
            try #require(try await run.value.wasKilled)
            ends.append(stage.simulator.counts.connections)
        }
        let result = try await stage.replay()
        try #require(result.status == 0, "\(result.errors)")

        var connections: [String: [Int]] = [:]
        var byID: [String: ReceivedPush] = [:]
        for push in stage.simulator.received where push.isAccepted {
            connections[push.apnsID, default: []].append(push.connection)
            byID[push.apnsID] = push
        }
        #expect(
            ReplayStage.keys(Array(byID.values)) == ReplayStage.keys(evening.expectedPushes(on: evening.devices)))
        // Between two deliveries of the same push lies the end of a process.
        let repeats = connections.values.flatMap { zip($0, $0.dropFirst()) }
        let inexcusable = repeats.filter { earlier, later in !ends.contains { earlier <= $0 && $0 < later } }
        #expect(inexcusable.isEmpty)
    }

    @Test func takesUpAKeyThatWasMended() async throws {
        let stage = try await ReplayStage(GrainEvening(seed: 23, events: 200))
        let keyFile = try #require(
            try FileManager.default.contentsOfDirectory(atPath: stage.hark.folder.path).first { $0.hasSuffix(".p8") })
        let good = try String(contentsOf: stage.hark.folder.appendingPathComponent(keyFile), encoding: .utf8)
        try stage.hark.write(try APNsCredentials.generate().keyPEM, to: keyFile)
        let run = Task { try await stage.replay() }
        // The first request is refused: the key is of another provider.
        _ = await stage.simulator.received(atLeast: 1)
        try stage.hark.write(good, to: keyFile)
        stage.hark.kill(SIGHUP)
        let result = try await run.value
        try #require(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("key_loaded"))
        #expect(!result.errors.contains(good.split(separator: "\n")[1]))
        #expect(stage.simulator.counts.accepted > 0)
    }
}
