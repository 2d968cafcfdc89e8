import HookKit
import Net
import TestSupport
import Testing

@testable import Push
@testable import Storage

@Suite(.fewAtATime, .timeLimit(.minutes(10)))
struct DeliveryTests {
    /// The worker and who hands it new rows hold each other while it runs.
    @Test func isGoneOnceItIsStopped() async throws {
        weak var clock: TestClock?
        do {
            let own = TestClock()
            clock = own
            let bench = try Bench(clock: own) { $0.answer(200) }
            try bench.register(deviceTokens(1))
            try bench.send()
            #expect(await bench.drain() == 0)
            await bench.service.stop(deadline: .seconds(1))
        }
        #expect(clock == nil)
    }

    @Test func deliversEachPushOnceAsAppleWantsIt() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(deviceTokens(3))
        try bench.send(50)
        #expect(await bench.drain() == 0)
        let accepted = bench.gateway.accepted
        #expect(accepted.count == 150)
        #expect(Set(accepted.map(\.id)).count == 150)
        #expect(Set(accepted.map { $0.token + String(decoding: $0.body, as: UTF8.self) }).count == 150)
        #expect(try bench.rows().allSatisfy { $0 == Bench.Row(state: "sent", attempts: 1, error: nil) })
        var counts = PushCounts()
        counts.sent = 150
        #expect(bench.service.counts == counts)
        let request = try #require(accepted.first)
        #expect(
            request.fields.map(\.name) == [
                ":path", ":method", ":scheme", ":authority", "apns-topic", "apns-push-type", "apns-priority",
                "authorization", "apns-expiration", "apns-id",
            ])
        #expect(request[":method"] == "POST")
        #expect(request[":scheme"] == "https")
        #expect(request["apns-topic"] == Bench.bundleID)
        #expect(request["apns-push-type"] == "alert")
        #expect(request["apns-priority"] == "10")
        #expect(Int64(request["apns-expiration"]).map { $0 > bench.clock.now / 1000 } == true)
        #expect(request["authorization"].hasPrefix("bearer "))
        #expect(Set(accepted.map { $0["authorization"] }).count == 1)
        await bench.service.stop(deadline: .seconds(1))
    }

    @Test func aDeviceOfTwoAccountsIsToldWhoseAPushIs() async throws {
        let bench = try Bench { $0.answer(200) }
        let people = ["did:plc:ann", "did:plc:bob"]
        for did in people { try bench.register(["abc123"], did: did) }
        for did in people { try bench.send(did: did) }
        #expect(await bench.drain() == 0)
        let accepted = bench.gateway.accepted
        #expect(accepted.map(\.token) == ["abc123", "abc123"] && Set(accepted.map(\.id)).count == 2)
        for did in people {
            #expect(accepted.count { String(decoding: $0.body, as: UTF8.self).contains(#""did":"\#(did)""#) } == 1)
        }
    }

    @Test func opensOneStreamUntilTheFirstSuccess() async throws {
        let bench = try Bench { request in
            if request.place == 1 {
                // Whatever else the sender has would come before this answer.
                request.gateway.after(.milliseconds(30)) {
                    let early = request.gateway.received.filter { $0.connection == request.connection }.count
                    request.answer(early == 1 ? 200 : 500)
                }
            } else {
                request.answer(200)
            }
        }
        try bench.register(deviceTokens(1))
        try bench.send(200)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.received.count == 200)
        #expect(bench.gateway.connectionCount == 1)
    }

    @Test func queuesNothingTwice() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(deviceTokens(1))
        try bench.send(5)
        #expect(await bench.drain() == 0)
        try bench.send(7)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.received.count == 7)
    }

    @Test func takesUpWhatAnEarlierProcessLeft() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(deviceTokens(1))
        await bench.service.stop(deadline: .zero)
        try bench.send(3)
        let now = bench.clock.now
        let claimed = try bench.database.writeBlocking {
            try $0.claimPushes(limit: 2, now: now, leaseUntil: now + 9_999_999).pushes
        }
        #expect(claimed.count == 2)
        let service = try PushService(
            database: bench.database, apns: bench.configuration, emit: .silent, tuning: PushTuning(), clock: bench.clock
        )
        service.start()
        #expect(await service.drain(giveUpAfter: .seconds(3600)) == 0)
        #expect(bench.gateway.accepted.count == 3)
        await service.stop(deadline: .zero)
    }

    /// The process was suspended, the clock was set, or the gateway is very slow.
    @Test func sendsOnceWhatOutlivesItsLease() async throws {
        let clock = TestClock()
        let (arrived, released) = (Signal(), Signal())
        let bench = try Bench(clock: clock) { request in
            guard request.number == 2 else { return request.answer(200) }
            arrived.set()
            Task {
                await released.wait()
                request.gateway.after(.zero) { request.answer(200) }
            }
        }
        try bench.register(["aa01"])
        try bench.send()
        #expect(await bench.drain() == 0)
        try bench.send(from: 1)
        await arrived.wait()
        clock.advance(by: 2 * PushTuning().lease.wholeMilliseconds)
        try bench.send(from: 2)
        while try bench.rows().map(\.state) != ["sent", "running", "sent"] { await Task.yield() }
        released.set()
        #expect(await bench.drain() == 0)
        #expect(try bench.rows().map(\.state) == ["sent", "sent", "sent"])
        #expect(bench.gateway.received.count == 3)
    }

    @Test func removesDeadTokensAndTheirRows() async throws {
        let tokens = deviceTokens(40)
        let dead = Set(tokens.enumerated().filter { $0.offset % 4 == 0 }.map(\.element))
        let bad = Set(tokens.enumerated().filter { $0.offset % 4 == 1 }.map(\.element))
        let bench = try Bench { request in
            if dead.contains(request.token) {
                request.answer(410, "{\"reason\":\"Unregistered\",\"timestamp\":1900000000000}", frameSize: 7)
            } else if bad.contains(request.token) {
                request.refuse(400, "BadDeviceToken")
            } else {
                request.answer(200)
            }
        }
        try bench.register(tokens)
        try bench.send(10)
        #expect(await bench.drain() == 0)
        #expect(try bench.tokens() == tokens.filter { !dead.contains($0) && !bad.contains($0) }.sorted())
        #expect(bench.gateway.accepted.count == 200)
        let rows = try bench.rows()
        #expect(rows.filter { $0.state == "sent" }.count == 200)
        #expect(rows.filter { $0.state == "removed" }.count == 200)
        #expect(bench.service.counts.removed == 20)
        #expect(bench.service.counts.dropped == 200)
        let ended = bench.service.outcomes.counts.filter { ["sent", "removed"].contains($0.key.outcome) }
        #expect(ended.values.reduce(0, +) == 400)
        #expect(bench.service.counts.failed == 0)
        #expect(bench.service.counts.sent == 200)
        #expect(try !bench.leaks(tokens))
    }

    @Test(arguments: [1, 0, -1])
    func keepsATokenThatWasRegisteredSince(_ offset: Int64) async throws {
        let clock = TestClock()
        // `register` dates registrations a second back.
        let timestamp = clock.now - 1000 + offset
        let bench = try Bench(clock: clock) {
            $0.answer(410, "{\"reason\":\"Unregistered\",\"timestamp\":\(timestamp)}")
        }
        try bench.register(["abc123"])
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(try bench.tokens() == (offset > 0 ? [] : ["abc123"]))
        #expect(try bench.rows() == [.init(state: offset > 0 ? "removed" : "dead", attempts: 1, error: "Unregistered")])
    }

    @Test(arguments: [
        ("BadTopic", 400), ("DeviceTokenNotForTopic", 400), ("PayloadTooLarge", 413), ("BadPath", 404),
        ("MethodNotAllowed", 405), ("SomethingNew", 400),
    ])
    func keepsTheTokenWhenTheFaultIsOurs(_ reason: String, _ status: Int) async throws {
        let bench = try Bench { $0.refuse(status, reason) }
        try bench.register(["abc123"])
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(try bench.tokens() == ["abc123"])
        #expect(try bench.rows() == [.init(state: "dead", attempts: 1, error: reason)])
        #expect(bench.service.counts.failed == 1)
    }

    @Test(arguments: [
        ("DeviceTokenNotForTopic", nil, true), ("BadTopic", nil, false), ("BadTopic", "com.other.app", true),
        ("TopicDisallowed", "com.other.app", true), ("PayloadTooLarge", nil, false), ("BadPriority", nil, false),
    ])
    func marksATokenThatIsAtFaultUntilItTakesAPush(_ reason: String, _ topic: String?, _ isMarked: Bool) async throws {
        let bench = try Bench { request in
            if request.number == 1 { request.refuse(400, reason) } else { request.answer(200) }
        }
        try bench.register(["abc123"], topic: topic)
        func failure() throws -> String? { try bench.database.read { try $0.tokens(did: nil) }.first?.failure }
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(try failure() == (isMarked ? reason : nil))
        try bench.send(from: 1)
        #expect(await bench.drain() == 0)
        #expect(try failure() == nil)
        #expect(try bench.rows().map(\.state) == ["dead", "sent"])
    }

    @Test(arguments: [
        ("", "HTTP 502"), ("<html><h1>Bad Gateway</h1></html>", "HTTP 502"),
        (#"{"reason":"InternalServerError"}"#, nil),
    ])
    func backsOffUntilTheGatewayIsWell(_ body: String, _ label: String?) async throws {
        let bench = try Bench { request in
            if request.number <= 3 { request.answer(502, body, frameSize: 3) } else { request.answer(200) }
        }
        try bench.register(["abc123"])
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(try bench.rows() == [.init(state: "sent", attempts: 4, error: nil)])
        #expect(Set(bench.gateway.received.map(\.id)).count == 1)
        #expect(bench.service.counts.retried == 3)
        #expect(bench.gateway.connectionCount == 1)
    }

    @Test func givesUpAfterSoManyAttempts() async throws {
        var tuning = PushTuning()
        tuning.maximumAttempts = 4
        let bench = try Bench(tuning: tuning) { $0.answer(503) }
        try bench.register(["abc123"])
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.received.count == 4)
        #expect(try bench.rows() == [.init(state: "dead", attempts: 4, error: "gave up after 4 attempts: HTTP 503")])
    }

    @Test(arguments: [(429, "TooManyRequests"), (503, "ServiceUnavailable"), (429, "TooManyProviderTokenUpdates")])
    func honoursRetryAfter(_ status: Int, _ reason: String) async throws {
        let clock = TestClock(patience: 100_000)
        var tuning = PushTuning()
        tuning.stallTimeout = .seconds(3600)
        let bench = try Bench(tuning: tuning, clock: clock) { request in
            if request.number == 1 { request.refuse(status, reason, retryAfter: "77") } else { request.answer(200) }
        }
        try bench.register(["abc123"])
        let start = clock.now
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(clock.now - start >= 77_000)
        #expect(bench.gateway.accepted.count == 1)
        #expect(Set(bench.gateway.received.map { $0["authorization"] }).count == 1)
    }

    @Test func dropsWhatHasExpired() async throws {
        var tuning = PushTuning()
        tuning.lifetime = .seconds(5)
        let bench = try Bench(tuning: tuning) { $0.answer(503, retryAfter: "6") }
        try bench.register(["abc123"])
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(try bench.rows().map(\.state) == ["expired"])
        #expect(bench.service.counts.failed == 1)
    }

    @Test func countsWhatAClaimSettles() async throws {
        let clock = TestClock()
        let bench = try Bench(clock: clock) { $0.answer(200) }
        try bench.register(deviceTokens(2))
        await bench.service.stop(deadline: .zero)
        try bench.send(3)
        clock.advance(by: 86_400_001)
        try bench.send(2, did: "did:plc:bob", from: 10)
        try bench.register(["abc123", "abc124"], did: "did:plc:bob")
        try bench.send(2, did: "did:plc:bob", from: 20)
        try bench.database.writeBlocking {
            try $0.connection.execute("DELETE FROM _push_tokens WHERE token = 'abc124'")
        }
        let service = try PushService(
            database: bench.database, apns: bench.configuration, emit: .silent, tuning: PushTuning(), clock: clock)
        service.start()
        #expect(await service.drain(giveUpAfter: .seconds(3600)) == 0)
        #expect(service.counts.sent == 2 && service.counts.failed == 6 && service.counts.dropped == 2)
        #expect(service.outcomes["expired"] == 6)
        #expect(service.outcomes["removed", "token removed"] == 2)
        await service.stop(deadline: .zero)
    }

    @Test func settlesWhatNoChannelCanSend() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(["abc123"], did: "did:plc:fcm", platform: "fcm")
        try bench.register(["a/../b"], did: "did:plc:path")
        try bench.register(["abc123"], did: "did:plc:topic", topic: "evil\r\ntopic")
        try bench.register(["abc123"], did: "did:plc:env", environment: "staging")
        for did in ["did:plc:fcm", "did:plc:path", "did:plc:topic", "did:plc:env"] { try bench.send(did: did) }
        #expect(await bench.drain() == 0)
        let rows = try bench.rows()
        #expect(rows.map(\.state) == ["dead", "dead", "dead", "dead"])
        #expect(
            rows.map(\.error) == [
                "no channel for platform fcm", "token has characters that no device token has", "malformed topic",
                "unknown environment",
            ])
        #expect(bench.gateway.received.isEmpty)
        #expect(try bench.tokens().count == 4)
    }

    @Test func usesATokensOwnTopic() async throws {
        let bench = try Bench { $0.refuse(400, "TopicDisallowed") }
        try bench.register(["abc123"], topic: "com.other")
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.received.first?["apns-topic"] == "com.other")
        #expect(try bench.rows().map(\.error) == ["TopicDisallowed"])
        #expect(!bench.lines.contains { $0.contains("key_stopped") })
    }

    @Test func reportsWhatCannotBeQueued() async throws {
        let bench = try Bench { $0.answer(200) }
        let origin = SendOrigin(hook: "OnCommit", uri: "at://x", rev: "r", place: 0)
        #expect(
            bench.service.draft(
                of: .init(did: "did:plc:ann", title: "", body: "", data: ["aps": ""]), origin: origin
            ).entry == nil)
        #expect(
            bench.lines == [
                "push refused did=did:plc:ann hook=OnCommit uri=at://x reason=data may not hold \"aps\""
            ])
    }
}
