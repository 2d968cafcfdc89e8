import Net
import Simulators
import Storage
import TestSupport
import Testing

@testable import Push

/// Against the stand-in that judges requests as strictly as Apple does.
@Suite(.fewAtATime, .timeLimit(.minutes(10)))
struct SimulatorTests {
    private func simulator(
        _ credentials: APNsCredentials, _ flags: [(String, String)] = [],
        with change: (inout APNsSimulator.Options) -> Void = { _ in }
    ) throws -> APNsSimulator {
        var options = APNsSimulator.Options(providers: [credentials])
        for (flag, value) in flags { #expect(try options.faults.set(flag, value)) }
        change(&options)
        let simulator = try APNsSimulator(options)
        try simulator.start()
        return simulator
    }

    private func deliver(
        _ count: Int, to tokens: [String], through simulator: APNsSimulator, as credentials: APNsCredentials,
        tuning: PushTuning = PushTuning()
    ) async throws -> Bench {
        let bench = try Bench(simulator: simulator, credentials: credentials, tuning: tuning)
        try bench.register(tokens)
        try bench.send(count)
        #expect(await bench.drain() == 0)
        await bench.service.stop(deadline: .seconds(5))
        return bench
    }

    @Test func pleasesTheStrictestGateway() async throws {
        let credentials = try APNsCredentials.generate(bundleID: Bench.bundleID)
        let simulator = try simulator(credentials)
        let bench = try await deliver(200, to: deviceTokens(5), through: simulator, as: credentials)
        let counts = simulator.counts
        #expect(counts.requests == 1000)
        #expect(counts.accepted == 1000)
        #expect(counts.refused.isEmpty)
        #expect(bench.service.counts.sent == 1000)
        let push = try #require(simulator.received.first)
        #expect(push.title == "Hello")
        #expect(push.data == ["uri": "at://x", "did": "did:plc:ann"])
        simulator.stop()
    }

    @Test(arguments: [
        [("--answer", "503:every=7:first=2")], [("--answer", "refuse:every=3")], [("--goaway-after", "23")],
        [("--answer", "429:every=5:first=1"), ("--retry-after", "2")],
        [("--answer", "500:every=9:first=3"), ("--error-body", "html"), ("--goaway-after", "50")],
        [("--answer", "ExpiredProviderToken:nth=40")], [("--answer", "refuse:first=3")],
        [("--streams", "1000,1@50,1000@80,0@120,1000@120+20ms")],
        [("--answer", "503:10%:first=1"), ("--error-body", "empty"), ("--answer", "refuse:10%")],
    ])
    func deliversEachOnceWhateverTheGatewayDoes(_ flags: [(String, String)]) async throws {
        let credentials = try APNsCredentials.generate(bundleID: Bench.bundleID)
        let simulator = try simulator(credentials, flags)
        let bench = try await deliver(150, to: deviceTokens(4), through: simulator, as: credentials)
        #expect(simulator.counts.accepted == 600)
        #expect(simulator.counts.duplicates == 0)
        #expect(Set(simulator.received.filter(\.isAccepted).map(\.apnsID)).count == 600)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" && $0.error == nil })
        #expect(try !bench.leaks(deviceTokens(4)))
        simulator.stop()
    }

    @Test(arguments: ["reset:every=11", "abort:every=60", "silent:nth=77"])
    func losesNothingWhenNobodyKnows(_ fault: String) async throws {
        let credentials = try APNsCredentials.generate(bundleID: Bench.bundleID)
        let simulator = try simulator(credentials, [("--answer", fault)])
        var tuning = PushTuning()
        // Long enough for every answer that comes, on a slow machine too.
        if fault.hasPrefix("silent") { tuning.requestTimeout = .milliseconds(1500) }
        tuning.resendsAfterTimeout = 5
        let bench = try await deliver(150, to: deviceTokens(4), through: simulator, as: credentials, tuning: tuning)
        #expect(Set(simulator.received.filter(\.isAccepted).map(\.apnsID)).count == 600)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" })
        simulator.stop()
    }

    @Test func removesTheDeadAlone() async throws {
        let tokens = deviceTokens(20)
        let credentials = try APNsCredentials.generate(bundleID: Bench.bundleID)
        let simulator = try simulator(credentials) { options in
            options.deadTokens = [tokens[3]: nil, tokens[7]: 1_000_000_000_000]
            options.badTokens = [tokens[0], tokens[1], tokens[19]]
            options.tokenTopics = [tokens[5]: "com.other"]
        }
        let bench = try Bench(simulator: simulator, credentials: credentials, clock: SystemClock())
        try bench.register(tokens)
        try bench.send(3)
        #expect(await bench.drain() == 0)
        await bench.service.stop(deadline: .seconds(5))
        // The seventh was registered after the day on which Apple knew it to be dead.
        let gone = [tokens[0], tokens[1], tokens[3], tokens[19]]
        #expect(try bench.tokens() == tokens.filter { !gone.contains($0) }.sorted())
        #expect(simulator.counts.accepted == 3 * 14)
        #expect(bench.service.counts.sent == 3 * 14)
        #expect(bench.service.counts.removed == 4)
        #expect(bench.service.counts.dropped == 3 * 4)
        #expect(bench.service.counts.failed == 3 * 2)
        simulator.stop()
    }
}
