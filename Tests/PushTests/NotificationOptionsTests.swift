import FoundationEssentials
import HookKit
import Storage
import Testing

@testable import Push

struct NotificationOptionsTests {
    private static let now: Int64 = 1_800_000_000_000
    private let origin = SendOrigin(hook: "h", uri: "at://x", rev: "r", place: 0)

    private func entry(_ notification: HookKit.Notification) throws -> OutboxEntry {
        try OutboxEntry(
            notification, origin: origin, now: Self.now, lifetime: 1000, namesRecipient: true, badges: BadgeClosures())
    }

    /// A notification as `push.send` makes it.
    private static func sent(_ send: (any Push) -> Void) -> HookKit.Notification {
        let catcher = Catcher()
        send(catcher)
        return catcher.caught
    }

    private final class Catcher: Push, @unchecked Sendable {
        var caught = Notification(did: "")
        func send(_ notification: HookKit.Notification) { caught = notification }
    }

    struct Shape: Sendable, CustomTestStringConvertible {
        var aps: String
        var notification: HookKit.Notification
        var testDescription: String { aps }

        init(_ aps: String, _ send: (any Push) -> Void) {
            self.aps = aps
            notification = NotificationOptionsTests.sent(send)
        }
    }

    @Test(arguments: [
        Shape(#"{"alert":{"title":"t","body":"b"},"sound":"default"}"#) { $0.send(did: "d", title: "t", body: "b") },
        Shape(#"{"alert":{"title":"t","subtitle":"s","body":"b"},"sound":"bell.caf"}"#) {
            $0.send(did: "d", title: "t", body: "b", subtitle: "s", sound: .named("bell.caf"))
        },
        Shape(#"{"alert":{"title":"t","body":""}}"#) { $0.send(did: "d", title: "t", sound: .none) },
        Shape(#"{"alert":{"title":"","body":"b"},"badge":3,"sound":"default"}"#) {
            $0.send(did: "d", body: "b", badge: .number(3))
        },
        Shape(#"{"badge":0}"#) { $0.send(did: "d", sound: .none, badge: .number(0)) },
        Shape(#"{"alert":{"title":"t","body":"b"},"sound":{"critical":1,"name":"a","volume":0.5}}"#) {
            $0.send(did: "d", title: "t", body: "b", sound: .critical(named: "a", volume: 0.5))
        },
        Shape(
            #"{"alert":{"title":"t","body":"b"},"sound":"default","thread-id":"x\"","category":"c","interruption-level":"time-sensitive","relevance-score":0.25,"mutable-content":1}"#
        ) {
            $0.send(
                did: "d", title: "t", body: "b", threadID: "x\"", category: "c", mutableContent: true,
                interruptionLevel: .timeSensitive, relevanceScore: 0.25)
        },
        Shape(
            #"{"alert":{"title-loc-key":"T","title-loc-args":["a","\n"],"subtitle-loc-key":"S","loc-key":"B","loc-args":["c"]},"sound":"default"}"#
        ) {
            $0.send(
                did: "d", titleLocKey: "T", titleLocArgs: ["a", "\n"], subtitleLocKey: "S", locKey: "B",
                locArgs: ["c"])
        },
        Shape(#"{"alert":{"title":"t","loc-key":"B"},"sound":"default"}"#) {
            $0.send(did: "d", title: "t", locKey: "B")
        },
        Shape(#"{"alert":{"title":"t","body":""},"sound":"default","content-available":1,"mutable-content":1}"#) {
            $0.send(did: "d", title: "t", mutableContent: true, contentAvailable: true)
        },
        Shape(#"{"badge":2,"content-available":1}"#) {
            $0.send(did: "d", sound: .none, badge: .number(2), contentAvailable: true)
        },
        Shape(#"{"content-available":1}"#) { $0.sendBackground(did: "d") },
    ])
    func hasAppleShape(_ shape: Shape) throws {
        #expect(
            String(decoding: try entry(shape.notification).message.payload, as: UTF8.self)
                == "{\"aps\":\(shape.aps),\"did\":\"d\"}")
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        var reason: String
        var notification: HookKit.Notification
        var testDescription: String { reason }

        init(_ reason: String, _ send: (any Push) -> Void) {
            self.reason = reason
            notification = NotificationOptionsTests.sent(send)
        }
    }

    @Test(arguments: [
        Refused("empty alert: it has neither title, body, localised key nor badge") { $0.send(did: "d") },
        Refused("empty alert: it has neither title, body, localised key nor badge") {
            $0.send(did: "d", contentAvailable: true)
        },
        Refused("relevanceScore is 1.5: it goes from 0 to 1") {
            $0.send(did: "d", title: "t", relevanceScore: 1.5)
        },
        Refused("relevanceScore is nan: it goes from 0 to 1") {
            $0.send(did: "d", title: "t", relevanceScore: .nan)
        },
        Refused("badge is -1: it goes from 0 to 2147483647") { $0.send(did: "d", badge: .number(-1)) },
        Refused("badge has a parameter that is no finite number") {
            $0.send(did: "d", badge: .sql("SELECT $1", [Double.infinity]))
        },
        Refused("sound has an empty name") { $0.send(did: "d", title: "t", sound: .named("")) },
        Refused("sound has the volume 2.0: it goes from 0 to 1") {
            $0.send(did: "d", title: "t", sound: .critical(volume: 2))
        },
        Refused("expiration has passed") { $0.send(did: "d", title: "t", expiration: .after(.zero)) },
        Refused("expiration has passed") {
            $0.send(did: "d", title: "t", expiration: .at(Date(timeIntervalSince1970: 1_800_000_000)))
        },
        Refused("expiration has passed") {
            $0.send(did: "d", title: "t", expiration: .at(Date(timeIntervalSince1970: .nan)))
        },
        Refused("collapseID too long: 66 bytes of 64") {
            $0.send(did: "d", title: "t", collapseID: String(repeating: "é", count: 33))
        },
        Refused("data may not hold \"aps\"") { $0.sendBackground(did: "d", data: ["aps": ""]) },
        Refused("payload too large: 5044 bytes without title and body, of 4096") {
            $0.sendBackground(did: "d", data: ["k": String(repeating: "v", count: 4996)])
        },
    ])
    func refusesByName(_ refused: Refused) {
        let error = #expect(throws: NotificationRefusal.self) { try entry(refused.notification) }
        #expect(error?.description == refused.reason)
    }

    @Test func aBackgroundPushShowsNothing() throws {
        let plain = try entry(.background(did: "d", data: ["k": "v"]))
        #expect(
            String(decoding: plain.message.payload, as: UTF8.self)
                == #"{"aps":{"content-available":1},"did":"d","k":"v"}"#)
        #expect(plain.message.priority == 5 && plain.message.pushType == "background")
        var notification = Notification.background(did: "d")
        notification.priority = .immediate
        #expect(throws: NotificationRefusal.backgroundPriority) { try entry(notification) }
        notification.priority = .considerate
        notification.title = "t"
        #expect(throws: NotificationRefusal.backgroundShows("title or body")) { try entry(notification) }
        notification.title = ""
        notification.badge = .number(1)
        #expect(throws: NotificationRefusal.backgroundShows("badge")) { try entry(notification) }
    }

    @Test func setsWhatStandsInTheRow() throws {
        var notification = Notification(did: "d", title: "t", body: "b")
        #expect(try entry(notification).expiresAt == Self.now + 1000)
        notification.priority = .low
        notification.dedupeID = "once"
        notification.expiration = .after(.seconds(60))
        var made = try entry(notification)
        #expect(
            made.message.priority == 1 && made.dedupeID == "once" && made.expiresAt == Self.now + 60_000
                && !made.message.isOnce)
        notification.expiration = .at(Date(timeIntervalSince1970: 1_800_000_001))
        #expect(try entry(notification).expiresAt == Self.now + 1000)
        notification.expiration = .after(.seconds(Int64.max))
        #expect(try entry(notification).expiresAt > Self.now)
        notification.expiration = .once
        notification.dedupeID = ""
        made = try entry(notification)
        #expect(made.message.isOnce && made.expiresAt == Self.now + 1000 && made.dedupeID == nil)
    }

    @Test func leavesRoomForABadge() throws {
        var notification = Notification(did: "d", title: "t", body: String(repeating: "b", count: 5000))
        notification.badge = .sql("SELECT 1")
        let payload = try entry(notification).message.payload
        let full = APNsPayload.adding(badge: APNsPayload.maximumBadge, to: payload)
        #expect(full.count == APNsPayload.maximumBytes)
        #expect(full.starts(with: Array(#"{"aps":{"badge":2147483647,"alert":{"#.utf8)))
        let alone = APNsPayload.adding(badge: 7, to: Array(#"{"aps":{},"k":"v"}"#.utf8))
        #expect(String(decoding: alone, as: UTF8.self) == #"{"aps":{"badge":7},"k":"v"}"#)
    }

    @Test func keepsTheNewestClosures() throws {
        let closures = BadgeClosures(limit: 2)
        let stored = try (0..<3).map { number in
            try StoredBadge(try #require(try closures.stored(.counted { _, _ in number })))
        }
        let isThere = stored.map { badge in
            guard case .closure(let process, let number) = badge else { return false }
            #expect(BadgeClosures().closure(process: process, number: number) == nil)
            return closures.closure(process: process, number: number) != nil
        }
        #expect(isThere == [false, true, true])
    }
}

struct PushOutcomesTests {
    @Test func countsFewThings() {
        var outcomes = PushOutcomes()
        for number in 0..<1000 { outcomes.add("dead", "\(number)") }
        outcomes.add("sent", "", 5)
        #expect(outcomes.counts.count <= PushOutcomes.limit + 2)
        #expect(outcomes["dead", "7"] == 1)
        #expect(outcomes.counts.values.reduce(0, +) == 1005)
        #expect(PushOutcomes.reason(of: "gave up after 10 attempts: HTTP 503") == "gave up")
        #expect(PushOutcomes.reason(of: "BadDeviceToken") == "BadDeviceToken")
    }
}
