import HookKit
import Net
import Storage
import TestSupport
import Testing

@testable import Push

/// From the outbox to a gateway whose connections fail in every way: nothing is lost, nothing is doubled.
@Suite(.fewAtATime, .timeLimit(.minutes(10)))
struct ConnectionFaultTests {
    /// Real deadlines of connections, short; the clock of rows and backoff is virtual.
    private static var impatient: PushTuning {
        var tuning = PushTuning()
        tuning.connection.connectTimeout = .milliseconds(500)
        tuning.connection.handshakeTimeout = .milliseconds(200)
        return tuning
    }

    private func expectAllOnce(_ bench: Bench, _ count: Int, _ gateway: Gateway? = nil) throws {
        let accepted = (gateway ?? bench.gateway).accepted
        #expect(accepted.count == count)
        #expect(Set(accepted.map(\.id)).count == count)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" })
        #expect(bench.service.counts.sent == count)
    }

    /// Those that never let anybody in.
    enum Closed: CaseIterable {
        case noTLS, wrongName, unknownAuthority, noHTTP2, unknownHost

        func gateway() throws -> Gateway {
            switch self {
            case .noTLS:
                var options = HTTP2Server.Options()
                options.greeting = .silent
                return try Gateway(options: options) { $0.answer(200) }
            case .wrongName:
                return try Gateway(certificate: SelfSignedCertificate(hosts: ["example.com"])) { $0.answer(200) }
            case .unknownAuthority:
                return try Gateway(certificate: SelfSignedCertificate()) { $0.answer(200) }
            case .noHTTP2: return try Gateway(offersHTTP2: false) { $0.answer(200) }
            case .unknownHost: return try Gateway { $0.answer(200) }
            }
        }
    }

    @Test(arguments: Closed.allCases)
    func keepsRowsWhileNobodyLetsItIn(_ fault: Closed) async throws {
        let aim = fault == .unknownHost ? Endpoint(host: "no-such-host.invalid", port: 443) : nil
        let bench = try Bench(gateway: fault.gateway(), aim: aim, tuning: Self.impatient)
        try bench.register(deviceTokens(3))
        try bench.send(4)
        #expect(await bench.service.drain(giveUpAfter: .seconds(15)) == 12)
        await bench.service.stop(deadline: .zero)
        #expect(try bench.rows().allSatisfy { $0.state == "retry" && $0.attempts == 0 })
        #expect(bench.gateway.received.isEmpty)
        #expect(try bench.tokens().count == 3)
        let failures = bench.lines.filter { $0.contains("connection_failed") }
        // The test's clock stands still before a delay of more than 20 s, and the backoff doubles from 1 s.
        #expect((1...7).contains(failures.count))
    }

    @Test func comesBackWithTheGateway() async throws {
        let clock = TestClock()
        let bench = try Bench(clock: clock) { request in
            request.answer(200)
            // The machine goes down in the middle of a burst, and whatever was not answered with it.
            if request.number == 60 { request.peer.abort() }
        }
        try bench.register(deviceTokens(2))
        try bench.send(100)
        #expect(await bench.drain() == 0)
        let port = bench.gateway.port
        bench.gateway.stop()
        try bench.send(200, from: 100)
        #expect(await bench.service.drain(giveUpAfter: .seconds(5)) > 0)
        let restarted = try Gateway(port: port) { $0.answer(200) }
        // The next attempt may be minutes away.
        clock.advance(by: 300_000)
        #expect(await bench.drain() == 0)
        #expect(restarted.accepted.count == 400)
        #expect(Set(restarted.accepted.map(\.id)).count == 400)
        #expect(Set((bench.gateway.received + restarted.accepted).map(\.id)).count == 600)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" })
        restarted.end()
    }

    /// The server has answered what it read, and reads no more: its machine lost its power.
    @Test func noticesAHalfOpenConnection() async throws {
        var tuning = PushTuning()
        tuning.connection.pingAfterIdleRead = .milliseconds(200)
        tuning.connection.pingTimeout = .milliseconds(200)
        let bench = try Bench(tuning: tuning) { request in
            if request.place == 30, request.connection <= 3 {
                let peer = request.peer
                request.gateway.after(.zero) { peer.freeze() }
            }
            request.answer(200)
        }
        try bench.register(deviceTokens(1))
        try bench.send(300)
        #expect(await bench.drain() == 0)
        #expect(Set(bench.gateway.received.map(\.id)).count == 300)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" })
        #expect(bench.lines.contains { $0.contains("connection_lost") })
    }

    @Test func goesOnWhenWindowsStayShut() async throws {
        var options = HTTP2Server.Options()
        options.opensWindows = false
        options.connectionWindow = 65_535
        var tuning = PushTuning()
        tuning.requestTimeout = .milliseconds(500)
        // On a busy machine answers may come too late as well: a push may then go out once more.
        tuning.resendsAfterTimeout = 5
        let bench = try Bench(tuning: tuning, options: options) { $0.answer(200) }
        try bench.register(deviceTokens(2))
        // Some 200 bytes each: the window of a connection holds about 300.
        try bench.send(600)
        #expect(await bench.drain() == 0)
        #expect(Set(bench.gateway.accepted.map(\.id)).count == 1200)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" })
    }

    @Test func triesTheAddressesOfAName() async throws {
        // Where loopback's name has an IPv6 address, it comes first, and nobody listens there.
        let gateway = try Gateway { $0.answer(200) }
        let bench = try Bench(
            gateway: gateway, aim: Endpoint(host: "localhost", port: gateway.port))
        try bench.register(deviceTokens(1))
        try bench.send(50)
        #expect(await bench.drain() == 0)
        try expectAllOnce(bench, 50)
    }

    /// A server that shakes hands and hangs up must meet a backoff, not a storm.
    @Test func isNoStormForAServerThatHangsUp() async throws {
        let gateway = try Gateway(onConnect: { $0.abort() }) { $0.answer(200) }
        let clock = TestClock()
        let bench = try Bench(gateway: gateway, clock: clock)
        try bench.register(deviceTokens(5))
        try bench.send(100)
        #expect(await bench.service.drain(giveUpAfter: .seconds(15)) == 500)
        // The test's clock stands still before a delay of more than 20 s, and the backoff doubles from 1 s.
        for attempts in 7...12 {
            #expect(gateway.connectionCount <= attempts)
            clock.advance(by: 151_000)
        }
        #expect(gateway.mostOpenConnections <= 1)
        #expect(try bench.rows().allSatisfy { $0.attempts == 0 })
    }

    /// The gateway says GOAWAY before it has taken anything, for ever.
    @Test func isNoStormForAServerThatAlwaysSaysGoAway() async throws {
        let gateway = try Gateway { $0.peer.goAway(lastStream: 0, errorCode: 0, debug: []) }
        let clock = TestClock()
        let bench = try Bench(gateway: gateway, clock: clock)
        try bench.register(deviceTokens(1))
        try bench.send(50)
        #expect(await bench.service.drain(giveUpAfter: .seconds(15)) == 50)
        // Each timer of the test lets the clock jump, so that a later attempt or two may come due.
        #expect((1...12).contains(gateway.connectionCount))
        #expect(try bench.rows().allSatisfy { $0.attempts == 0 && $0.state != "dead" })
    }

    @Test func neverExceedsItsConnections() async throws {
        var options = HTTP2Server.Options()
        options.maxConcurrentStreams = 3
        // Each connection says GOAWAY after a while, in the middle of everything.
        let bench = try Bench(options: options) { request in
            if request.place % 25 == 0 {
                request.peer.goAway(lastStream: request.stream, errorCode: 0, debug: [])
            }
            request.gateway.after(.milliseconds(1)) { request.answer(200) }
        }
        try bench.register(deviceTokens(1))
        try bench.send(600)
        #expect(await bench.drain() == 0)
        // A body may come before that of an earlier stream: then the gateway disowns what it has taken already.
        #expect(Set(bench.gateway.accepted.map(\.id)).count == 600)
        #expect(try bench.rows().allSatisfy { $0 == .init(state: "sent", attempts: 1, error: nil) })
        // Four at work, and those that end beside them.
        #expect(bench.gateway.mostOpenConnections <= 8)
    }

    @Test func sendsWithANewKeyOnceItIsLoaded() async throws {
        let bench = try Bench { request in
            let first = request.gateway.received.first?["authorization"]
            if request["authorization"] == first {
                request.refuse(403, "InvalidProviderToken")
            } else {
                request.answer(200)
            }
        }
        try bench.register(deviceTokens(3))
        try bench.send(20)
        #expect(await bench.service.drain(giveUpAfter: .seconds(5)) == 60)
        #expect(bench.lines.contains { $0.contains("key_stopped") })
        #expect(throws: (any Error).self) {
            var broken = bench.configuration
            broken.keyPEM = "no key"
            try bench.service.reloadKey(broken)
        }
        var fresh = bench.configuration
        fresh.keyID = "NEWKEY0001"
        try bench.service.reloadKey(fresh)
        #expect(await bench.drain() == 0)
        try expectAllOnce(bench, 60)
        #expect(Set(bench.gateway.received.map { $0["authorization"] }).count == 2)
        #expect(bench.lines.contains { $0.contains("key_loaded") && $0.contains("NEWKEY0001") })
    }

    /// Rows of the environment in which a key was refused wait for minutes, so as not to stand in the way of the other's.
    @Test func sendsAtOnceWhatAStoppedKeyKeptWaiting() async throws {
        let sandbox = try Gateway { $0.answer(200) }
        let bench = try Bench(separateSandbox: sandbox) { request in
            let first = request.gateway.received.first?["authorization"]
            if request["authorization"] != first { return request.answer(200) }
            request.refuse(403, "BadEnvironmentKeyInToken")
        }
        try bench.register(deviceTokens(6))
        try bench.register(["abc123"], did: "did:plc:sandbox", environment: "sandbox")
        try bench.send(5, did: "did:plc:sandbox")
        #expect(await bench.drain() == 0)
        try bench.send(4)
        #expect(await bench.service.drain(giveUpAfter: .seconds(5)) == 24)
        #expect(sandbox.accepted.count == 5)
        // What was given back is recorded a little later.
        while try bench.rows().filter({ $0.error == "key stopped: BadEnvironmentKeyInToken" }).count < 24 {
            await Task.yield()
        }
        var fresh = bench.configuration
        fresh.keyID = "NEWKEY0001"
        try bench.service.reloadKey(fresh)
        // The test's clock does not go on for more than 20 seconds by itself.
        #expect(await bench.drain() == 0)
        #expect(bench.gateway.accepted.count == 24)
        #expect(Set(bench.gateway.accepted.map(\.id)).count == 24)
        sandbox.end()
    }

    /// Apple takes at most one new token of a key in 20 minutes, however often an operator loads it.
    @Test func makesNoNewTokenForTheSameKey() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(deviceTokens(2))
        for round in 0..<5 {
            try bench.service.reloadKey(bench.configuration)
            try bench.send(10, from: round * 10)
            #expect(await bench.drain() == 0)
        }
        try expectAllOnce(bench, 100)
        #expect(Set(bench.gateway.received.map { $0["authorization"] }).count == 1)
        #expect(bench.gateway.connectionCount == 1)
        #expect(bench.lines.filter { $0.contains("key_loaded") }.count == 5)
    }

    /// It may have been mended at Apple's side.
    @Test func triesTheSameKeyAgainWhenItIsLoadedAgain() async throws {
        let clock = TestClock(patience: 10_000)
        // The key stops three times, and works the fourth.
        let bench = try Bench(clock: clock) { request in
            if request.number <= 3 { request.refuse(403, "Forbidden") } else { request.answer(200) }
        }
        try bench.register(deviceTokens(2))
        try bench.send(10)
        for _ in 0..<3 {
            #expect(await bench.service.drain(giveUpAfter: .seconds(5)) == 20)
            try bench.service.reloadKey(bench.configuration)
        }
        #expect(await bench.drain() == 0)
        try expectAllOnce(bench, 20)
        // What it began with, and one since.
        #expect(Set(bench.gateway.received.map { $0["authorization"] }).count <= 2)
    }

    /// What an old key's requests are answered after the change says nothing of the new one.
    @Test func blamesANewKeyForNothing() async throws {
        let reached = Signal()
        let loaded = Signal()
        let bench = try Bench { request in
            let first = request.gateway.received.first?["authorization"]
            guard request.number > 1, request["authorization"] == first else { return request.answer(200) }
            reached.set()
            Task {
                await loaded.wait()
                request.gateway.after(.zero) { request.refuse(403, "InvalidProviderToken") }
            }
        }
        try bench.register(deviceTokens(1))
        try bench.send(50)
        await reached.wait()
        var fresh = bench.configuration
        fresh.keyID = "NEWKEY0001"
        try bench.service.reloadKey(fresh)
        loaded.set()
        #expect(await bench.drain() == 0)
        try expectAllOnce(bench, 50)
        #expect(!bench.lines.contains { $0.contains("key_stopped") })
    }
}
