import Crypto
import Net
import TestSupport
import Testing

@testable import Simulators

/// Each refusal over real TLS and HTTP/2.
@Suite(.fewAtATime) struct APNsSimulatorTests {
    let provider: TestProvider
    let good: TestPush

    init() throws {
        provider = try TestProvider()
        good = try TestPush(provider)
    }

    private func connected(
        _ change: (inout APNsSimulator.Options) throws -> Void = { _ in }
    ) throws -> (APNsSimulator, APNsSimulatorClient) {
        let simulator = try startSimulator(provider: provider, change)
        return (simulator, try APNsSimulatorClient(simulator))
    }

    @Test func acceptsWhatAppleWould() async throws {
        let (simulator, client) = try connected()
        let id = "0a0b0c0d-1111-4222-8333-444455556666"
        let push = good.with("apns-id", id).with("apns-expiration", "0").with("apns-collapse-id", "thread")
        let response = try await client.send(push).get()
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(response.headers.contains(HeaderField("apns-id", id)))

        let received = await simulator.received(atLeast: 1)
        let only = try #require(received.first)
        #expect(received.count == 1 && only.isAccepted && only.reason == nil)
        #expect(only.sequence == 1 && only.connection == 1 && only.attempt == 1)
        #expect(only.token == TestPush.token && only.apnsID == id && only.topic == "com.example.app")
        #expect(only.pushType == "alert" && only.priority == 10 && only.expiration == 0 && only.collapseID == "thread")
        #expect(only.title == "Hello" && only.body == "World" && only.payload == push.body)
        #expect(only.data == ["uri": "at://a/b/c", "n": #"{"x":[1]}"#])
        #expect(abs(only.timeMilliseconds - APNsGateway.nowMilliseconds) < 60_000)
        #expect(simulator.counts.requests == 1 && simulator.counts.accepted == 1 && simulator.counts.connections == 1)
    }

    @Test func makesAnIDWhenThereIsNone() async throws {
        let (simulator, client) = try connected()
        let response = try await client.send(good).get()
        let id = try #require(response.headers.first { $0.name == Array("apns-id".utf8) })
        #expect(String(decoding: id.value, as: UTF8.self) == simulator.received.first?.apnsID)
        #expect(throws: Never.self) { try RequestRules.checkID(simulator.received.first?.apnsID) }
    }

    /// Name, value (nil: without the header), and what Apple says.
    @Test(
        arguments: [
            (":method", "GET", .methodNotAllowed), (":path", "/", .badPath),
            (":path", "/3/device/", .missingDeviceToken),
            (":path", "/3/device/xyz", .badDeviceToken), (":path", "/3/device/00", .badDeviceToken),
            ("apns-topic", nil, .missingTopic), ("apns-topic", "com example", .badTopic),
            ("apns-topic", "com.example.other", .topicDisallowed), ("authorization", nil, .missingProviderToken),
            ("authorization", "", .missingProviderToken), ("authorization", "basic abc", .missingProviderToken),
            ("authorization", "bearer abc", .invalidProviderToken),
            ("authorization", "bearer a.b.c", .invalidProviderToken),
            ("apns-id", "0A0B0C0D-1111-4222-8333-444455556666", .badMessageID), ("apns-id", "1", .badMessageID),
            ("apns-expiration", "soon", .badExpirationDate), ("apns-priority", "7", .badPriority),
            ("apns-push-type", "loud", .invalidPushType), ("apns-push-type", "background", .badPriority),
            ("apns-collapse-id", String(repeating: "x", count: 65), .badCollapseID),
        ] as [(String, String?, APNsReason)])
    func refusesHeader(name: String, value: String?, reason: APNsReason) async throws {
        let (simulator, client) = try connected()
        #expect(await client.outcome(of: good.with(name, value)) == Outcome(reason))
        #expect(simulator.counts.refused == [reason.rawValue: 1])
        #expect(await client.outcome(of: good) == Outcome(200))
    }

    @Test(
        arguments: [
            ("", .payloadEmpty), ("not JSON", .payloadEmpty), ("{}", .payloadEmpty),
            (#"{"aps":{"alert":[]}}"#, .payloadEmpty),
            (#"{"aps":{},"x":"\#(String(repeating: "x", count: 4096))"}"#, .payloadTooLarge),
        ] as [(String, APNsReason)])
    func refusesPayload(body: String, reason: APNsReason) async throws {
        let (_, client) = try connected()
        #expect(await client.outcome(of: good.with(body: body)) == Outcome(reason))
    }

    @Test func refusesRepeatedHeaders() async throws {
        let (_, client) = try connected()
        var push = good
        push.headers.append(HeaderField("apns-topic", "com.example.app"))
        #expect(await client.outcome(of: push) == Outcome(.duplicateHeaders))
    }

    @Test func refusesTokensItKnows() async throws {
        let (dead, old, bad) = (
            String(repeating: "de", count: 32), String(repeating: "1d", count: 32),
            String(repeating: "ba", count: 32)
        )
        let before = APNsGateway.nowMilliseconds
        let (_, client) = try connected {
            $0.deadTokens = [dead.uppercased(): nil, old: 1_600_000_000_000]
            $0.badTokens = [bad]
            $0.tokenTopics = [TestPush.token: "com.example.other"]
        }
        func answer(_ token: String) async throws -> HTTP2Response {
            try await client.send(good.with(":path", "/3/device/\(token)")).get()
        }
        let unregistered = try await answer(dead)
        #expect(unregistered.status == 410)
        let body = try PayloadParser.parse(unregistered.body)
        #expect(body["reason"]?.string == "Unregistered")
        #expect(before...APNsGateway.nowMilliseconds ~= (body["timestamp"]?.integer ?? 0))
        let older = try await answer(old)
        #expect(String(decoding: older.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1600000000000}"#)
        #expect(older.headers.contains(HeaderField("content-type", "application/json; charset=utf-8")))
        #expect(Outcome(.success(try await answer(bad))) == Outcome(.badDeviceToken))
        #expect(Outcome(.success(try await answer(TestPush.token))) == Outcome(.deviceTokenNotForTopic))
    }

    @Test func allowsOneStreamUntilATokenHasSucceeded() async throws {
        let (_, client) = try connected()
        #expect(await client.outcome(of: good.with("authorization", "bearer a.b.c")) == Outcome(.invalidProviderToken))
        #expect(await client.room() == 1)
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.room() == 1000)
    }

    @Test(arguments: [
        ("apns-unheard-of", "1"), ("connection", "close"), ("transfer-encoding", "chunked"),
    ])
    func endsTheConnectionOverMalformedHeaders(name: String, value: String) async throws {
        let (simulator, client) = try connected()
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.outcome(of: good.with(name, value)).status == 0)
        #expect(simulator.counts.accepted == 1)
        #expect(try await APNsSimulatorClient(simulator).outcome(of: good) == Outcome(200))
    }

    @Test func lenientForgives() async throws {
        let (_, client) = try connected { $0.strictness = .lenient }
        #expect(await client.outcome(of: good.with("apns-unheard-of", "1")) == Outcome(200))
        #expect(await client.outcome(of: good.with("apns-id", "ANY")) == Outcome(200))
        let old = try provider.sign(issuedSecondsAgo: 9999)
        #expect(await client.outcome(of: good.with("authorization", "bearer \(old)")) == Outcome(200))
    }

    @Test func countsDuplicatesAndTries() async throws {
        let (simulator, client) = try connected()
        let push = good.with("apns-id", "0a0b0c0d-1111-4222-8333-444455556666")
        for _ in 0..<3 { #expect(await client.outcome(of: push) == Outcome(200)) }
        #expect(simulator.received.map(\.attempt) == [1, 2, 3])
        #expect(simulator.counts.duplicates == 2)
    }

    @Test func waitsForPushes() async throws {
        let (simulator, client) = try connected()
        async let three = simulator.received(atLeast: 3)
        async let accepted = simulator.received(atLeast: 2, accepted: true)
        for push in [good, good.with("apns-topic", nil), good] { _ = await client.send(push) }
        #expect(await three.count == 3)
        #expect(await accepted.filter(\.isAccepted).count == 2)
        let never = Task { await simulator.received(atLeast: 1000) }
        never.cancel()
        #expect(await never.value.count == 3)
    }

    @Test func takesManyAtOnceOnOneConnection() async throws {
        let (simulator, client) = try connected { $0.keepsPushes = false }
        let answers = await client.send(Array(repeating: good, count: 2000))
        #expect(answers.count == 2000 && answers.allSatisfy { Outcome($0) == Outcome(200) })
        #expect(simulator.counts.accepted == 2000 && simulator.counts.connections == 1)
        #expect(simulator.received.isEmpty)
    }

    @Test func takesItsPortAgain() async throws {
        let first = try startSimulator(provider: provider)
        let port = first.port
        #expect(try await APNsSimulatorClient(first).outcome(of: good) == Outcome(200))
        #expect(throws: (any Error).self) { _ = try startSimulator(provider: provider) { $0.port = port } }
        first.stop()
        let second = try startSimulator(provider: provider) { $0.port = port }
        #expect(try await APNsSimulatorClient(second).outcome(of: good) == Outcome(200))
    }

    @Test func stopsAndStartsAgain() async throws {
        let (simulator, client) = try connected()
        #expect(await client.outcome(of: good) == Outcome(200))
        simulator.stop()
        _ = await client.end()
        #expect(simulator.port == 0 && simulator.received.count == 1)
        try simulator.start()
        #expect(try await APNsSimulatorClient(simulator).outcome(of: good) == Outcome(200))
        #expect(simulator.received.count == 2)
    }
}
