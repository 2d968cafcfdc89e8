import Net
import Storage
import Testing

@testable import Push

struct BackoffTests {
    @Test(arguments: [
        (1, 500, 1000), (2, 1000, 2000), (3, 2000, 4000), (8, 64_000, 128_000), (9, 128_000, 256_000),
        (10, 150_000, 300_000), (1000, 150_000, 300_000), (0, 500, 1000),
    ] as [(Int, Int64, Int64)])
    func followsItsTable(_ attempts: Int, _ least: Int64, _ most: Int64) {
        #expect(Backoff().delay(attempts: attempts, draw: 0) == least)
        #expect(Backoff().delay(attempts: attempts, draw: 1 - 1e-9) == most)
    }

    @Test func takesAnyBase() {
        #expect(Backoff(base: .zero).delay(attempts: 50, draw: 0.5) == 0)
        #expect(Backoff(base: .seconds(1_000_000_000), cap: .seconds(10)).delay(attempts: 64, draw: 0) == 5000)
    }
}

struct BadTokenRunTests {
    private func run() -> BadTokenRun<Int> { BadTokenRun(limitBeforeSuccess: 3, limitSinceSuccess: 5) }

    @Test func stopsAfterDistinctTokensAlone() {
        var run = run()
        #expect(!run.bad(token: 1, 10))
        #expect(!run.bad(token: 1, 11))
        #expect(!run.bad(token: 2, 12))
        #expect(run.holds(token: 2))
        #expect(run.bad(token: 3, 13))
        #expect(run.release() == [10, 11, 12, 13])
        #expect(run.held.isEmpty)
        #expect(!run.holds(token: 2))
    }

    @Test func trustsAGatewayThatTookATokenLonger() {
        var run = run()
        run.succeeded()
        #expect(run.release().isEmpty)
        for token in 1...4 { #expect(!run.bad(token: Int64(token), token)) }
        run.succeeded()
        #expect(run.release() == [1, 2, 3, 4])
        for token in 1...4 { #expect(!run.bad(token: Int64(token), token)) }
        #expect(run.bad(token: 5, 5))
    }
}

struct LaneStateTests {
    @Test func takesOneStreamUntilTheFirstSuccess() {
        var lane = LaneState(isCautious: false)
        #expect(lane.allowance(room: 1000, now: 0) == 0)
        lane.opened()
        #expect(lane.allowance(room: 1000, now: 0) == 1)
        #expect(lane.allowance(room: 0, now: 0) == 0)
        lane.sent()
        #expect(lane.allowance(room: 999, now: 0) == 0)
        lane.answered(success: false)
        #expect(lane.allowance(room: 1000, now: 0) == 1)
        #expect(lane.isWarmingUp)
        lane.sent()
        lane.answered(success: true)
        #expect(lane.allowance(room: 1000, now: 0) == 1000)
        #expect(!lane.isWarmingUp)
    }

    @Test func growsSlowlyAfterALoss() {
        var lane = LaneState(isCautious: true)
        lane.opened()
        lane.sent()
        lane.answered(success: true)
        #expect(lane.allowance(room: 1000, now: 0) == 2)
        lane.sent()
        lane.sent()
        #expect(lane.allowance(room: 1000, now: 0) == 0)
        lane.answered(success: true)
        lane.answered(success: true)
        #expect(lane.allowance(room: 1000, now: 0) == 4)
        #expect(!lane.hasGrown)
    }

    @Test func takesNothingWhileRetiringPausedOrSilent() {
        var lane = LaneState(isCautious: false)
        lane.opened()
        lane.sent()
        lane.answered(success: true)
        lane.pause(until: 50)
        #expect(lane.allowance(room: 9, now: 49) == 0)
        #expect(lane.allowance(room: 9, now: 50) == 9)
        lane.sent()
        lane.sent()
        lane.timedOut()
        #expect(lane.allowance(room: 9, now: 60) == 0)
        #expect(!lane.isSpent)
        lane.answered(success: true)
        #expect(lane.allowance(room: 9, now: 60) == 9)
        lane.sent()
        lane.retire()
        lane.opened()
        #expect(lane.allowance(room: 9, now: 60) == 0)
        #expect(!lane.isSpent)
        lane.failed()
        #expect(lane.isSpent)
    }
}

struct FlightQueueTests {
    private func flight(_ id: Int64) -> Flight {
        Flight(.sample(id: id), bundleID: "b", environment: .production)
    }

    @Test func keepsItsOrder() {
        var queue = FlightQueue()
        for id in 0..<5000 { queue.append(flight(Int64(id))) }
        for id in 0..<3000 { #expect(queue.popFirst()?.push.id == Int64(id)) }
        #expect(queue.count == 2000)
        let even = queue.removeAll { $0.push.id % 2 == 0 }
        #expect(even.map(\.push.id) == Array(stride(from: 3000, to: 5000, by: 2)))
        queue.append(flight(7))
        #expect(queue.popFirst()?.push.id == 3001)
        #expect(queue.removeAll().last?.push.id == 7)
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
    }
}

struct RequestTests {
    @Test func ordersItsFields() throws {
        var request = APNsRequest(to: APNsEnvironment.production.gateway)
        let token = try ProviderToken(key: .generate(.p256), keyID: "K", teamID: "T", now: 0)
        var push = QueuedPush.sample(id: 1)
        push.collapseID = "c"
        let fields = request.fields(for: push, topic: "com.example", token: token)
        let text = fields.map { String(decoding: $0.name, as: UTF8.self) }
        #expect(
            text == [
                ":method", ":scheme", ":authority", ":path", "authorization", "apns-topic", "apns-push-type",
                "apns-priority", "apns-expiration", "apns-id", "apns-collapse-id",
            ])
        let values = fields.map { String(decoding: $0.value, as: UTF8.self) }
        #expect(values[0...3] == ["POST", "https", "api.push.apple.com", "/3/device/\(push.token)"])
        #expect(values[5...] == ["com.example", "alert", "10", "1900000000", push.apnsID, "c"])
        #expect(fields.filter(\.neverIndexed).count == 2)
        #expect(fields[3].neverIndexed && fields[4].neverIndexed)
        push.collapseID = nil
        push.token = "other"
        #expect(request.fields(for: push, topic: "com.example", token: token).count == 10)
    }

    @Test(arguments: [
        ("a1", "com.a", true), ("", "com.a", false), ("../x", "com.a", false), ("a b", "com.a", false),
        ("a%2F", "com.a", false), ("a\r\nx: y", "com.a", false), ("é", "com.a", false), ("A-._~9", "com.a", true),
        (String(repeating: "f", count: 4096), "com.a", true), (String(repeating: "f", count: 4097), "com.a", false),
        ("a1", "", false), ("a1", "com.a\r\n", false),
    ])
    func refusesWhatIsNoPath(_ token: String, _ topic: String, _ isFine: Bool) {
        var push = QueuedPush.sample(id: 1)
        push.token = token
        #expect((APNsRequest.refusal(of: push, topic: topic) == nil) == isFine)
    }

    @Test func namesTheGateway() throws {
        let token = try ProviderToken(key: .generate(.p256), keyID: "K", teamID: "T", now: 0)
        for (host, port, authority) in [("127.0.0.1", 8443, "127.0.0.1:8443"), ("::1", 443, "[::1]"), ("h", 443, "h")] {
            var request = APNsRequest(to: Endpoint(host: host, port: UInt16(port)))
            let fields = request.fields(for: .sample(id: 1), topic: "t", token: token)
            #expect(String(decoding: fields[2].value, as: UTF8.self) == authority)
        }
    }
}
