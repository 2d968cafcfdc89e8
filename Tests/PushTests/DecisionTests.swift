import Crypto
@testable import Net
import Storage
import Testing

@testable import Push

struct BackoffTests {
    @Test(
        arguments: [
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
        let early = [run.bad(token: 1, 10), run.bad(token: 1, 11), run.bad(token: 2, 12)]
        #expect(early == [false, false, false])
        #expect(run.holds(token: 2))
        let isTooLong = run.bad(token: 3, 13)
        #expect(isTooLong)
        let released = run.release()
        #expect(released == [10, 11, 12, 13])
        #expect(!run.holds(token: 3))
        #expect(run.held.isEmpty)
        #expect(!run.holds(token: 2))
    }

    @Test func countsTokensThatComeOneByOne() {
        var run = run()
        let first = run.bad(token: 1, 1)
        let one = run.release()
        #expect(!first && one == [1])
        let second = run.bad(token: 2, 2)
        let two = run.release()
        #expect(!second && two == [2])
        let third = run.bad(token: 3, 3)
        let three = run.release()
        #expect(third && three == [3])
    }

    @Test func trustsAGatewayThatTookATokenLonger() {
        var run = run()
        run.succeeded()
        let none = run.release()
        #expect(none.isEmpty)
        let first = (1...4).map { run.bad(token: Int64($0), $0) }
        #expect(first == [false, false, false, false])
        run.succeeded()
        let released = run.release()
        #expect(released == [1, 2, 3, 4])
        let second = (1...5).map { run.bad(token: Int64($0), $0) }
        #expect(second == [false, false, false, false, true])
    }
}

struct LaneStateTests {
    @Test func takesOneStreamUntilTheFirstSuccess() {
        var lane = LaneState(caution: nil)
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
        var lane = LaneState(caution: 0)
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

    @Test func staysNarrowUntilItHasDoneBetter() {
        var lane = LaneState(caution: 80)
        lane.opened()
        var widest = 0
        for _ in 0..<80 {
            lane.sent()
            lane.answered(success: true)
            widest = max(widest, lane.allowance(room: 1000, now: 0))
        }
        #expect(widest == 10)
        for _ in 0..<990 {
            lane.sent()
            lane.answered(success: true)
        }
        #expect(lane.allowance(room: 2000, now: 0) == 1000)
        #expect(lane.hasGrown)
    }

    @Test func takesNothingWhileRetiringPausedOrSilent() {
        var lane = LaneState(caution: nil)
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
        let first = (0..<3000).compactMap { _ in queue.popFirst()?.push.id }
        #expect(first == Array(0..<3000))
        #expect(queue.count == 2000)
        let even = queue.removeAll { $0.push.id % 2 == 0 }.map(\.push.id)
        #expect(even == Array(stride(from: Int64(3000), to: 5000, by: 2)))
        queue.append(flight(7))
        let next = queue.popFirst()
        #expect(next?.push.id == 3001)
        let rest = queue.removeAll()
        #expect(rest.last?.push.id == 7)
        #expect(rest.count == 1000)
        #expect(queue.isEmpty)
        let none = queue.popFirst()
        #expect(none == nil)
    }
}

struct RequestTests {
    @Test func makesTheFieldsOfItsOwn() {
        var request = APNsRequest(to: APNsEnvironment.production.gateway)
        func ownFields(of push: QueuedPush) -> [Literal] {
            var fields = FieldLiterals()
            request.writeOwnFields(of: push, to: &fields)
            return Literal.all(in: fields)
        }
        #expect(
            ownFields(of: .sample(id: 1, collapseID: "c")) == [
                Literal(name: "4", value: "/3/device/00fc13adff785122"),
                Literal(name: "apns-expiration", value: "1900000000"),
                Literal(name: "apns-id", value: "123e4567-e89b-82d3-a456-42665544000a"),
                Literal(name: "apns-collapse-id", value: "c"),
            ])
        #expect(ownFields(of: .sample(id: 1, expiresAt: 1999)).map(\.value)[1] == "1")
        let long = String(repeating: "f", count: 4096)
        #expect(ownFields(of: .sample(id: 1, token: long)).count == 3)
    }

    /// A field as HPACK has it, never indexed and without Huffman coding; `name` is a number for one of its own table.
    private struct Literal: Equatable {
        var name: String
        var value: String

        static func all(in fields: FieldLiterals) -> [Literal] {
            var rest = fields.bytes[...]
            var literals: [Literal] = []
            func text() -> String {
                var length = Int(rest.removeFirst())
                if length == 127 {
                    var shift = 0
                    var isLast = false
                    while !isLast {
                        let byte = rest.removeFirst()
                        length += Int(byte & 127) << shift
                        shift += 7
                        isLast = byte < 128
                    }
                }
                defer { rest = rest.dropFirst(length) }
                return String(decoding: rest.prefix(length), as: UTF8.self)
            }
            while let first = rest.popFirst() {
                let name = first & 15 == 0 ? text() : "\(first & 15)"
                literals.append(Literal(name: first >> 4 == 1 ? name : "indexed", value: text()))
            }
            return literals
        }
    }

    /// Each byte that text may hold at each place of eight, among digits that need no look of their own.
    @Test(arguments: 0..<128 as Range<UInt8>)
    func takesWhatATokenMayHold(_ byte: UInt8) {
        let character = Character(Unicode.Scalar(byte))
        let isFine = character.isLetter || character.isNumber || "-._~".contains(character)
        for place in 0..<8 {
            for count in [8, 9, 64, 160] {
                var token = Array(repeating: Character("f"), count: count)
                token[count - 1 - place] = character
                let push = QueuedPush.sample(id: 1, token: String(token))
                #expect((APNsRequest.refusal(of: push, topic: "t") == nil) == isFine, "\(byte) at \(place) of \(count)")
            }
        }
    }

    @Test(arguments: ["fffffffé", "ffffffffé", "ÀFFFFFFF", "fffffff\u{80}ffffff"])
    func refusesTokensBeyondASCII(_ token: String) {
        #expect(APNsRequest.refusal(of: .sample(id: 1, token: token), topic: "t") != nil)
    }

    @Test func preparesWhatRequestsShareOnce() throws {
        var request = APNsRequest(to: APNsEnvironment.production.gateway)
        var token = try ProviderToken(key: .generate(.p256), keyID: "K", teamID: "T", now: 0)
        let push = QueuedPush.sample(id: 1)
        let first = request.common(for: push, topic: "t", generation: token.generation, token: token)
        let same = request.common(for: .sample(id: 2), topic: "t", generation: token.generation, token: token)
        #expect(same === first)
        token.keepFresh(now: ProviderToken.renewal)
        let second = request.common(for: push, topic: "t", generation: token.generation, token: token)
        #expect(second !== first)
        let other = request.common(for: push, topic: "other", generation: token.generation, token: token)
        #expect(other !== second)
    }

    @Test(arguments: [
        ("a1", "com.a", true), ("", "com.a", false), ("../x", "com.a", false), ("a b", "com.a", false),
        ("a%2F", "com.a", false), ("a\r\nx: y", "com.a", false), ("é", "com.a", false), ("A-._~9", "com.a", true),
        (String(repeating: "f", count: 4096), "com.a", true), (String(repeating: "f", count: 4097), "com.a", false),
        ("a1", "", false), ("a1", "com.a\r\n", false),
    ])
    func refusesWhatIsNoPath(_ token: String, _ topic: String, _ isFine: Bool) {
        let push = QueuedPush.sample(id: 1, token: token)
        #expect((APNsRequest.refusal(of: push, topic: topic) == nil) == isFine)
    }
}
