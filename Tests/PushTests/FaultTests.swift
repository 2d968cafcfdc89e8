import HookKit
import Net
import Storage
import TestSupport
import Testing

@testable import Push

@Suite(.fewAtATime, .timeLimit(.minutes(10)))
struct FaultTests {
    @Test func losesNothingWhenTheGatewaySaysGoAway() async throws {
        // Takes ten requests a connection, sees as many more as are in flight, and disowns those.
        let bench = try Bench { request in
            if request.place <= 10 { request.answer(200) }
            if request.place == 10 {
                request.peer.goAway(
                    lastStream: request.stream, errorCode: 0, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
            }
        }
        try bench.register(deviceTokens(1))
        try bench.send(300)
        #expect(await bench.drain() == 0)
        let accepted = bench.gateway.accepted
        #expect(accepted.count == 300)
        #expect(Set(accepted.map(\.id)).count == 300)
        #expect(bench.gateway.connectionCount >= 30)
        #expect(try bench.rows().allSatisfy { $0 == Bench.Row(state: "sent", attempts: 1, error: nil) })
        #expect(bench.lines.contains { $0.contains("goaway") && $0.contains("reason=Shutdown") })
    }

    @Test func resendsWhatWasRefused() async throws {
        let bench = try Bench { request in
            if request.number % 3 == 0 {
                request.peer.reset(stream: request.stream, errorCode: 7)
            } else {
                request.answer(200)
            }
        }
        try bench.register(deviceTokens(2))
        try bench.send(200)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.accepted.count == 400)
        #expect(Set(bench.gateway.accepted.map(\.id)).count == 400)
        #expect(bench.service.counts.failed == 0)
        #expect(bench.gateway.connectionCount == 1)
    }

    @Test func survivesSocketsThatAreReset() async throws {
        let bench = try Bench { request in
            request.answer(200)
            if request.place == 40 { request.peer.abort() }
        }
        try bench.register(deviceTokens(1))
        try bench.send(400)
        #expect(await bench.drain() == 0)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" })
        #expect(Set(bench.gateway.received.map(\.id)).count == 400)
        #expect(bench.lines.contains { $0.contains("connection_lost") })
    }

    @Test func sendsAgainOnceWhatWasNeverAnswered() async throws {
        var tuning = PushTuning()
        tuning.requestTimeout = .milliseconds(500)
        let bench = try Bench(tuning: tuning) { request in
            if String(decoding: request.body, as: UTF8.self).contains("\"body\":\"3\"") { return }
            request.answer(200)
        }
        try bench.register(["abc123"])
        try bench.send(6)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.received.count == 7)
        #expect(Set(bench.gateway.received.map(\.id)).count == 6)
        let rows = try bench.rows()
        #expect(rows.map(\.state).filter { $0 == "sent" }.count == 5)
        #expect(rows[3] == .init(state: "dead", attempts: 1, error: "may have been delivered: no answer in time"))
    }

    @Test func followsTheLimitOnStreams() async throws {
        let bench = try Bench { request in
            switch request.number {
            case 1: request.peer.setMaxConcurrentStreams(1)
            case 50: request.peer.setMaxConcurrentStreams(1000)
            case 100:
                let peer = request.peer
                peer.setMaxConcurrentStreams(0)
                request.gateway.after(.milliseconds(20)) { peer.setMaxConcurrentStreams(1000) }
            default: break
            }
            request.answer(200)
        }
        try bench.register(deviceTokens(1))
        try bench.send(500)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.accepted.count == 500)
        #expect(Set(bench.gateway.accepted.map(\.id)).count == 500)
    }

    @Test func givesRowsBackWhenNoStreamIsToBeHad() async throws {
        let clock = TestClock()
        var tuning = PushTuning()
        tuning.maximumConnections = 1
        let bench = try Bench(tuning: tuning, clock: clock) { request in
            if request.connection == 1, request.number == 1 {
                request.peer.setMaxConcurrentStreams(0)
                let gateway = request.gateway
                // The answer is on its way before the clock jumps.
                gateway.after(.milliseconds(30)) { clock.advance(by: 31_000) }
                gateway.after(.milliseconds(60)) { clock.advance(by: 31_000) }
            }
            request.answer(200)
        }
        try bench.register(deviceTokens(1))
        try bench.send(20)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.accepted.count == 20)
    }

    @Test func usesNoMoreConnectionsThanAllowed() async throws {
        var tuning = PushTuning()
        tuning.maximumConnections = 3
        var options = HTTP2Server.Options()
        options.maxConcurrentStreams = 5
        let bench = try Bench(tuning: tuning, options: options) { request in
            request.gateway.after(.milliseconds(2)) { request.answer(200) }
        }
        try bench.register(deviceTokens(1))
        try bench.send(300)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.accepted.count == 300)
        #expect((1...3).contains(bench.gateway.connectionCount))
    }

    @Test func refreshesAnExpiredTokenOnceForAll() async throws {
        let bench = try Bench { request in
            // What the sender began with is called expired after a while.
            let first = request.gateway.received.first?["authorization"]
            if request.number > 50, request["authorization"] == first {
                request.refuse(403, "ExpiredProviderToken")
            } else {
                request.answer(200)
            }
        }
        try bench.register(deviceTokens(1))
        try bench.send(300)
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.accepted.count == 300)
        #expect(Set(bench.gateway.received.map { $0["authorization"] }).count == 2)
        #expect(bench.gateway.connectionCount == 2)
        #expect(try bench.rows().allSatisfy { $0 == .init(state: "sent", attempts: 1, error: nil) })
    }

    @Test(arguments: [
        "InvalidProviderToken", "Forbidden", "TopicDisallowed", "BadCertificate", "ExpiredProviderToken", "",
    ])
    func stopsAKeyThatIsRefused(_ reason: String) async throws {
        let bench = try Bench { $0.refuse(403, reason) }
        let tokens = deviceTokens(5)
        try bench.register(tokens)
        try bench.send(20)
        #expect(await bench.service.drain(giveUpAfter: .seconds(5)) == 100)
        try await bench.hasRecordedAll()
        #expect(try bench.rows().allSatisfy { $0.state == "retry" || $0.state == "available" })
        #expect(try bench.tokens().count == 5)
        #expect(bench.gateway.received.count <= 5)
        #expect(bench.lines.filter { $0.contains("key_stopped") && $0.contains("production") }.count == 1)
        #expect(try !bench.leaks(tokens + bench.gateway.received.map { String($0["authorization"].suffix(40)) }))
    }

    @Test func keepsAllTokensWhenAllAreCalledBad() async throws {
        let bench = try Bench { $0.refuse(400, "BadDeviceToken") }
        try bench.register(deviceTokens(60))
        try bench.send()
        #expect(await bench.service.drain(giveUpAfter: .seconds(5)) == 60)
        #expect(try bench.tokens().count == 60)
        #expect(bench.lines.contains { $0.contains("key_stopped") && $0.contains("BadDeviceToken") })
        #expect(bench.gateway.received.count == 20)
    }

    @Test func removesAFewBadTokensEvenAlone() async throws {
        let bench = try Bench { $0.refuse(400, "BadDeviceToken") }
        try bench.register(deviceTokens(19))
        try bench.send(2)
        #expect(await bench.drain() == 0)
        #expect(try bench.tokens() == [])
        #expect(bench.service.counts.removed == 19)
        #expect(bench.gateway.received.count == 19)
        try bench.register(["abc123"], did: "did:plc:last")
        try bench.send(did: "did:plc:last")
        #expect(await bench.service.drain(giveUpAfter: .milliseconds(1)) == 1)
        #expect(try bench.tokens() == ["abc123"])
    }

    @Test func triesABadTokenInTheOtherEnvironment() async throws {
        let sandboxTokens = Set(deviceTokens(30).prefix(3))
        let sandbox = try Gateway { request in
            if sandboxTokens.contains(request.token) {
                request.answer(200)
            } else {
                request.refuse(400, "BadDeviceToken")
            }
        }
        let bench = try Bench(separateSandbox: sandbox) { request in
            if sandboxTokens.contains(request.token) || request.token == "bad" {
                request.refuse(400, "BadDeviceToken")
            } else {
                request.answer(200)
            }
        }
        try bench.register(deviceTokens(30) + ["bad"])
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(try bench.tokens() == deviceTokens(30).sorted())
        #expect(bench.gateway.accepted.count == 27)
        #expect(sandbox.accepted.count == 3)
        #expect(sandbox.received.count == 4)
        #expect(try bench.environments() == ["production": 27, "sandbox": 3])
        try bench.send(from: 1)
        #expect(await bench.drain() == 0)
        #expect(sandbox.received.count == 7)
        #expect(bench.gateway.received.count == 31 + 27)
        sandbox.end()
    }

    @Test func givesUpOnAGatewayOutOfReach() async throws {
        let bench = try Bench { $0.answer(200) }
        bench.gateway.stop()
        try bench.register(deviceTokens(2))
        try bench.send(2)
        #expect(await bench.service.drain(giveUpAfter: .seconds(10)) == 4)
        #expect(bench.lines.contains { $0.contains("connection_failed") })
        await bench.service.stop(deadline: .zero)
        let rows = try bench.rows()
        #expect(rows.count == 4 && rows.allSatisfy { $0.state == "retry" && $0.attempts == 0 })
    }

    @Test func mayBeDroppedWithoutBeingStopped() async throws {
        for _ in 0..<20 {
            let arrived = Signal()
            let bench = try Bench { request in
                if request.number == 1 { request.answer(200) } else { arrived.set() }
            }
            try bench.register(deviceTokens(2))
            try bench.send(30)
            await arrived.wait()
        }
    }

    @Test func stopsWhileConnecting() async throws {
        var options = HTTP2Server.Options()
        options.greeting = .silent
        let bench = try Bench(options: options) { $0.answer(200) }
        try bench.register(deviceTokens(2))
        try bench.send(2)
        await bench.service.stop(deadline: .seconds(30))
        #expect(try bench.rows().allSatisfy { $0.state != "running" && $0.attempts == 0 })
    }

    @Test func letsWhatIsInFlightFinishWhenStopping() async throws {
        let started = Signal()
        let bench = try Bench { request in
            guard request.number > 1 else { return request.answer(200) }
            started.set()
            request.gateway.after(.milliseconds(50)) { request.answer(200) }
        }
        try bench.register(deviceTokens(1))
        try bench.send(10)
        await started.wait()
        await bench.service.stop(deadline: .seconds(30))
        let rows = try bench.rows()
        #expect(rows.filter { $0.state == "sent" }.count == bench.gateway.accepted.count)
        #expect(!rows.contains { $0.state == "running" })
        #expect(bench.gateway.accepted.count >= 2)
    }
}
