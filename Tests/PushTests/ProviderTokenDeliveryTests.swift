import Crypto
import Foundation
import Net
import TestSupport
import Testing

@testable import Push

/// The provider token over hours of a virtual clock, as a gateway sees it.
@Suite(.fewAtATime, .timeLimit(.minutes(10)))
struct ProviderTokenDeliveryTests {
    private static let minute: Int64 = 60_000

    /// The `iat` of each token that came, in seconds, in order of its first use.
    private func issuedAt(_ gateway: Gateway) throws -> [Int64] {
        var seen: [String] = []
        for request in gateway.received where !seen.contains(request["authorization"]) {
            seen.append(request["authorization"])
        }
        return try seen.map { authorization in
            let web = try JSONWebToken(String(authorization.dropFirst("bearer ".count)))
            let claims = try JSONSerialization.jsonObject(with: Data(web.claims)) as? [String: Any]
            return try #require(claims?["iat"] as? Int64)
        }
    }

    @Test func isRenewedAtFiftyMinutesForAllConnections() async throws {
        let clock = TestClock()
        var options = HTTP2Server.Options()
        options.maxConcurrentStreams = 5
        let bench = try Bench(clock: clock, options: options) { request in
            request.gateway.after(.milliseconds(1)) { request.answer(200) }
        }
        try bench.register(deviceTokens(2))
        let start = clock.now
        for minute in 0..<120 {
            try bench.send(5, from: minute * 5)
            #expect(await bench.drain() == 0)
            clock.advance(by: max(start + Int64(minute + 1) * Self.minute - clock.now, 0))
        }
        let times = try issuedAt(bench.gateway)
        #expect(times.count == 3)
        for (earlier, later) in zip(times, times.dropFirst()) { #expect((3000...3060).contains(later - earlier)) }
        #expect(bench.gateway.accepted.count == 1200)
        #expect(bench.gateway.connectionCount <= 4)
    }

    /// Every sixth request is called expired, whatever token it carries.
    @Test func isRenewedOnceInTwentyMinutesHoweverOftenItIsCalledExpired() async throws {
        let clock = TestClock()
        let bench = try Bench(clock: clock) { request in
            if request.number % 6 == 5 {
                request.refuse(403, "ExpiredProviderToken")
            } else {
                request.answer(200)
            }
        }
        try bench.register(deviceTokens(1))
        for minute in 0..<180 {
            try bench.send(4, from: minute * 4)
            #expect(await bench.drain() == 0)
            clock.advance(by: Self.minute)
        }
        let times = try issuedAt(bench.gateway)
        // The first may follow its predecessor sooner: that was no renewal.
        for (earlier, later) in zip(times.dropFirst(), times.dropFirst(2)) { #expect(later - earlier >= 1200) }
        #expect((8...11).contains(times.count))
        #expect(bench.gateway.accepted.count == 720)
        #expect(try bench.rows().allSatisfy { $0.state == "sent" })
        #expect(!bench.lines.contains { $0.contains("key_stopped") })
    }

    /// However many requests are in flight when the first is refused.
    @Test func isRenewedOnceForAllThatAreInFlight() async throws {
        let bench = try Bench { request in
            let first = request.gateway.received.first?["authorization"]
            if request.number > 1, request["authorization"] == first {
                request.gateway.after(.milliseconds(5)) { request.refuse(403, "ExpiredProviderToken") }
            } else {
                request.answer(200)
            }
        }
        try bench.register(deviceTokens(4))
        try bench.send(100)
        #expect(await bench.drain() == 0)
        #expect(try issuedAt(bench.gateway).count == 2)
        #expect(bench.gateway.accepted.count == 400)
        #expect(try bench.rows().allSatisfy { $0 == .init(state: "sent", attempts: 1, error: nil) })
    }
}
