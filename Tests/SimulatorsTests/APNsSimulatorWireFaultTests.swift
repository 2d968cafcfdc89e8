import Net
import Synchronization
import TestSupport
import Testing

@testable import Simulators

/// The faults that the simulator is told to play, seen by a real client.
@Suite(.fewAtATime) struct APNsSimulatorWireFaultTests {
    let provider: TestProvider
    let good: TestPush

    init() throws {
        provider = try TestProvider()
        good = try TestPush(provider)
    }

    /// A simulator told so by flags.
    private func told(_ flags: String...) throws -> APNsSimulator {
        try startSimulator(provider: provider) { options in
            for pair in flags {
                let words = pair.split(separator: " ").map(String.init)
                _ = try options.faults.set(words[0], words[1])
            }
        }
    }

    private func push(_ number: Int) -> TestPush {
        let digits = String(number, radix: 16)
        let padded = String(repeating: "0", count: 12 - digits.count) + digits
        return good.with("apns-id", "00000000-0000-4000-8000-\(padded)")
    }

    @Test(arguments: ["410", "400", "429", "500", "503", "403", "ExpiredToken", "IdleTimeout", "Shutdown"])
    func answersAsTold(_ effect: String) async throws {
        let simulator = try told("--answer \(effect):every=2")
        let client = try APNsSimulatorClient(simulator)
        let reason = try #require(APNsReason(rawValue: effect) ?? Int(effect).flatMap(APNsReason.init(status:)))
        var outcomes: [Outcome] = []
        for _ in 1...4 { outcomes.append(await client.outcome(of: good)) }
        #expect(outcomes == [Outcome(200), Outcome(reason), Outcome(200), Outcome(reason)])
        #expect(simulator.received.map(\.status) == [200, reason.status, 200, reason.status])
        #expect(simulator.received.map(\.reason) == [nil, reason.rawValue, nil, reason.rawValue])
    }

    @Test func datesItsDeaths() async throws {
        let before = APNsGateway.nowMilliseconds
        let client = try APNsSimulatorClient(told("--answer 410"))
        let body = try PayloadParser.parse(await client.send(good).get().body)
        #expect(before...APNsGateway.nowMilliseconds ~= body["timestamp"]?.integer ?? 0)
    }

    @Test func answersTheFirstTriesOfEachID() async throws {
        let client = try APNsSimulatorClient(told("--answer 503:first=2"))
        var outcomes: [Int] = []
        for number in [1, 2, 1, 2, 1, 2] { outcomes.append(await client.outcome(of: push(number)).status) }
        #expect(outcomes == [503, 503, 503, 503, 200, 200])
    }

    @Test func answersForTokens() async throws {
        let client = try APNsSimulatorClient(told("--answer BadDeviceToken --token beef", "--token beef"))
        let beef = String(repeating: "dead", count: 15) + "BEEF"
        #expect(await client.outcome(of: good.with(":path", "/3/device/\(beef)")) == Outcome(.badDeviceToken))
        #expect(await client.outcome(of: good) == Outcome(200))
    }

    @Test func sendsRetryAfter() async throws {
        let client = try APNsSimulatorClient(told("--answer 429:nth=1", "--answer 410:nth=2", "--retry-after 17"))
        let field = HeaderField("retry-after", "17")
        #expect(try await client.send(good).get().headers.contains(field))
        #expect(try await !client.send(good).get().headers.contains(field))
    }

    @Test func shapesErrorBodies() async throws {
        func answer(_ shape: String) async throws -> HTTP2Response {
            try await APNsSimulatorClient(told("--answer 503", "--error-body \(shape)")).send(good).get()
        }
        #expect(try await String(decoding: answer("json").body, as: UTF8.self) == #"{"reason":"ServiceUnavailable"}"#)
        #expect(try await String(decoding: answer("split").body, as: UTF8.self) == #"{"reason":"ServiceUnavailable"}"#)
        #expect(try await answer("empty").body.isEmpty)
        let html = try await answer("html")
        #expect(html.body.first == UInt8(ascii: "<") && html.headers.contains(HeaderField("content-type", "text/html")))
        let odd = try APNsSimulatorClient(told("--answer 502"))
        #expect(try await odd.send(good).get().status == 502)
    }

    @Test func holdsAnswersBack() async throws {
        let simulator = try told("--delay 60ms..90ms")
        let client = try APNsSimulatorClient(simulator)
        let clock = ContinuousClock()
        let start = clock.now
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(clock.now - start >= .milliseconds(60))
        let answers = await client.send((1...20).map(push))
        #expect(answers.allSatisfy { Outcome($0) == Outcome(200) })
    }

    @Test func refusesAndResetsStreams() async throws {
        let client = try APNsSimulatorClient(told("--answer refuse:nth=2", "--answer reset:nth=3"))
        var outcomes: [Outcome] = []
        for _ in 1...4 { outcomes.append(await client.outcome(of: good)) }
        #expect(outcomes == [Outcome(200), Outcome(0, "not processed"), Outcome(0, "ambiguous"), Outcome(200)])
    }

    @Test func saysNothing() async throws {
        let simulator = try told("--answer silent:nth=2")
        let client = try APNsSimulatorClient(simulator)
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(Outcome(await client.send(good, timeout: .milliseconds(50))) == Outcome(0, "timed out"))
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(simulator.counts.refused == ["Silent": 1])
    }

    @Test func freezes() async throws {
        let client = try APNsSimulatorClient(told("--answer freeze:nth=2"))
        #expect(await client.outcome(of: good) == Outcome(200))
        for _ in 1...2 {
            #expect(Outcome(await client.send(good, timeout: .milliseconds(50))) == Outcome(0, "timed out"))
        }
    }

    @Test func dropsTheSocket() async throws {
        let simulator = try told("--answer abort:nth=2")
        let client = try APNsSimulatorClient(simulator)
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.outcome(of: good) == Outcome(0, "ambiguous"))
        #expect(await client.end() == .closed)
        #expect(try await APNsSimulatorClient(simulator).outcome(of: good) == Outcome(200))
    }

    @Test func saysGoAwayMidBurst() async throws {
        let simulator = try told("--goaway-after 30")
        let first = try APNsSimulatorClient(simulator)
        #expect(await first.outcome(of: push(0)) == Outcome(200))
        let answers = await first.send((1...100).map(push))
        #expect(await first.end() == .goAway(errorCode: 0, debug: #"{"reason":"Shutdown"}"#))
        let outcomes = answers.map(Outcome.init)
        #expect(outcomes.filter { $0 == Outcome(200) }.count == 29)
        #expect(outcomes.filter { $0 == Outcome(0, "not processed") }.count == 71)

        var left = outcomes.indices.filter { outcomes[$0].status == 0 }.map { push($0 + 1) }
        while !left.isEmpty {
            let batch = left
            let answers = await (try APNsSimulatorClient(simulator)).send(batch)
            left = batch.indices.filter { Outcome(answers[$0]).status == 0 }.map { batch[$0] }
        }
        #expect(simulator.counts.accepted == 101 && simulator.counts.duplicates == 0)
        #expect(Set(simulator.received.map(\.apnsID)).count == 101)
        #expect(simulator.counts.connections > 3)
    }

    @Test func saysGoAwayWithAnError() async throws {
        let client = try APNsSimulatorClient(told("--goaway-after 2:11", "--answer silent:nth=2"))
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(Outcome(await client.send(good, timeout: .milliseconds(100))).status == 0)
        #expect(await client.end() == .goAway(errorCode: 11, debug: #"{"reason":"Shutdown"}"#))
    }

    @Test func changesTheLimitOnStreams() async throws {
        let client = try APNsSimulatorClient(told("--streams 7,0@5,9@5+50ms"))
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.room() == 7)
        // The fifth closes the door, and its answer comes all the same; the others wait until it opens.
        let answers = await client.send((1...20).map(push))
        #expect(answers.allSatisfy { [Outcome(200), Outcome(0, "not processed")].contains(Outcome($0)) })
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.room() == 9)
    }

    @Test func neverShakesHands() async throws {
        let simulator = try told("--handshake silent")
        let client = try APNsSimulatorClient(simulator, handshakeTimeout: .milliseconds(100))
        #expect(await client.end() == .closed)
        #expect(simulator.counts.connections == 0)
    }

    @Test func keepsItsWindowsShut() async throws {
        let client = try APNsSimulatorClient(told("--windows shut"))
        #expect(await client.outcome(of: good) == Outcome(200))
        let large = good.with(body: #"{"aps":{},"x":"\#(String(repeating: "x", count: 4000))"}"#)
        // Long enough that every answer that comes at all has come: what is left waits for the window.
        let answers = await client.send(Array(repeating: large, count: 40), timeout: .seconds(4))
        let accepted = answers.filter { Outcome($0) == Outcome(200) }.count
        #expect(1...16 ~= accepted)
        // One waits on its stream for the window to open, and the next when its time is over before that of the others, which
        // have none yet.
        let waited = answers.filter { Outcome($0) == Outcome(0, "timed out") }.count
        #expect(waited >= 1)
        #expect(answers.filter { Outcome($0) == Outcome(0, "not processed") }.count == 40 - accepted - waited)
    }

    @Test func sameSeedSameFaults() async throws {
        func run(seed: Int) async throws -> [Int?] {
            let simulator = try told("--answer 503:40%", "--seed \(seed)")
            let client = try APNsSimulatorClient(simulator)
            for number in 0..<60 { _ = await client.send(good.with(body: #"{"aps":{},"n":\#(number)}"#)) }
            return simulator.received.map(\.status)
        }
        let first = try await run(seed: 5)
        #expect(try await run(seed: 5) == first)
        #expect(try await run(seed: 6) != first)
        #expect(10...40 ~= first.filter { $0 == 503 }.count)
    }
}
