import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

@Suite struct OutboxTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
    }

    @discardableResult
    private func register(_ did: String, _ token: String, at time: Int64 = now) throws -> Int64 {
        try database.register(did, token, topic: "t", at: time)
    }

    private func entry(
        _ did: String, hook: String = "favorite", uri: String = "at://x/y/1", place: Int = 0,
        expires: Int64 = now + 1000
    ) -> OutboxEntry {
        OutboxEntry(
            did: did, hook: hook, uri: uri, rev: "r", place: place, payload: Array(#"{"aps":{}}"#.utf8),
            collapseID: place == 1 ? "c" : nil, priority: 10, pushType: "alert", expiresAt: expires)
    }

    @discardableResult
    private func queue(_ entries: OutboxEntry..., at time: Int64 = now) throws -> Int {
        try database.writeBlocking { try $0.finish(job: 1, notifications: entries, now: time).queued }
    }

    private func claim(_ limit: Int = 100, at time: Int64 = now) throws -> [QueuedPush] {
        try database.writeBlocking { try $0.claimPushes(limit: limit, now: time, leaseUntil: time + 100).pushes }
    }

    private func settle(
        _ push: QueuedPush, _ outcome: PushSettlement.Outcome, _ error: String? = nil, at time: Int64 = now
    ) throws {
        let result = PushSettlement(id: push.id, tokenID: push.device.id, outcome: outcome, error: error)
        _ = try database.writeBlocking { try $0.settle([result], now: time) }
    }

    private var states: [String?] { get throws { try database.texts("SELECT state FROM _push_queue ORDER BY id") } }
    private var counts: OutboxCounts { get throws { try database.read { try $0.outboxCounts() } } }

    // MARK: Tokens

    @Test func registeringAgainRefreshes() throws {
        let id = try register("did:a", "token-one")
        let again = try database.writeBlocking {
            try $0.register(
                NewPushToken(
                    did: "did:a", token: "token-one", platform: "apns", environment: "production", label: "📱",
                    locale: "de"),
                now: now + 5000)
        }
        #expect(again == id)
        let token = try #require(try database.read { try $0.tokens(did: "did:a") }.first)
        #expect(token.environment == "production" && token.topic == nil && token.label == "📱" && token.locale == "de")
        #expect(token.createdAt == "2023-11-14T22:13:20.000Z" && token.lastSeenAt == "2023-11-14T22:13:25.000Z")
        #expect(try database.read { try $0.tokens(did: nil) }.count == 1)
    }

    @Test func tokenColumnsBeginAsHatksDo() throws {
        let names = try database.read { try $0.query("SELECT * FROM _push_tokens", []).names }
        #expect(names.prefix(4) == ["did", "token", "platform", "createdAt"] && names.contains("id"))
    }

    @Test func tokenIDsAreNeverReused() throws {
        let first = try register("did:a", "one")
        #expect(try database.writeBlocking { try $0.removeToken(id: first, did: nil) })
        let second = try register("did:a", "one")
        #expect(second > first)
        database.close()
        let reopened = try scratch.open()
        let third = try reopened.writeBlocking { transaction in
            _ = try transaction.removeToken(id: second, did: "did:a")
            return try transaction.register(
                NewPushToken(did: "did:a", token: "one", platform: "apns", environment: "sandbox"), now: now)
        }
        #expect(third > second)
    }

    @Test func onlyTheOwnersTokenIsRemoved() throws {
        let id = try register("did:a", "shared")
        try register("did:b", "shared")
        #expect(try database.writeBlocking { try $0.removeToken(id: id, did: "did:b") } == false)
        #expect(try database.writeBlocking { try $0.removeToken(did: "did:b", token: "shared") })
        #expect(try database.writeBlocking { try $0.removeToken(did: "did:b", token: "shared") } == false)
        #expect(try database.read { try $0.tokens(did: nil) }.map(\.did) == ["did:a"])
    }

    @Test func tokensAreNeverPrintedWhole() throws {
        try register("did:a", "0123456789abcdef")
        let token = try #require(try database.read { try $0.tokens(did: nil) }.first)
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(text.contains("89abcdef") && !text.contains("0123456789abcdef"))
        }
    }

    // MARK: Queueing

    @Test func oneRowPerDeviceAndNoTokenInIt() throws {
        let one = try register("did:a", "token-one")
        let two = try register("did:a", "token-two")
        try register("did:b", "token-three")
        #expect(try queue(entry("did:a"), entry("did:nobody")) == 2)
        #expect(
            try database.rows("SELECT token_id, did FROM _push_queue ORDER BY id")
                == [one, two].map { [.integer($0), .text("did:a")] })
        for row in try database.rows("SELECT * FROM _push_queue") {
            #expect(!row.contains { $0.string?.contains("token-") == true })
        }
    }

    @Test func theSameNotificationIsQueuedOnce() throws {
        try register("did:a", "one")
        #expect(try queue(entry("did:a")) == 1)
        #expect(try queue(entry("did:a"), entry("did:a", place: 1), entry("did:a", uri: "at://x/y/2")) == 2)
        for push in try claim() { try settle(push, .sent) }
        #expect(try queue(entry("did:a"), entry("did:a", place: 1)) == 0)
        // Another device since then gets its own.
        try register("did:a", "two")
        #expect(try queue(entry("did:a")) == 1)
    }

    @Test func fieldsDoNotRunTogetherInTheKey() throws {
        try register("did:a", "one")
        #expect(try queue(entry("did:a", hook: "ab", uri: "c"), entry("did:a", hook: "a", uri: "bc")) == 2)
    }

    @Test func aJobEndsWithItsRows() throws {
        let schema = makeSchema()
        try register("did:a", "one")
        let job = try #require(
            try database.apply(change(schema, .create, "app.example.x", "1", rev: "a", map([:]), wanted: true)).jobs
                .first)
        let queued = try database.writeBlocking {
            try $0.finish(job: job.id, notifications: [entry("did:a")], now: now)
        }
        #expect(queued.queued == 1)
        #expect(try database.number("SELECT count(*) FROM _hook_jobs") == 0)
    }

    // MARK: Claiming

    @Test func claimedRowsCarryTheirDevice() throws {
        let id = try register("did:a", "one")
        try queue(entry("did:a", place: 1))
        let push = try #require(try claim().first)
        let (device, message) = (push.device, push.message)
        #expect(device.id == id && device.token == "one" && device.platform == "apns" && device.topic == "t")
        #expect(device.environment == "sandbox" && device.registeredAt == now)
        #expect(message.did == "did:a" && message.payload == Array(#"{"aps":{}}"#.utf8) && message.collapseID == "c")
        #expect(message.priority == 10 && message.pushType == "alert" && !message.isOnce && message.badge == nil)
        #expect(push.expiresAt == now + 1000 && push.attempts == 0)
        #expect(
            push.key.uuid.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(try claim().isEmpty)
        #expect(try states == ["running"])
        try settle(push, .retry(at: now, counted: true))
        #expect(try claim().map(\.key.uuid) == [push.key.uuid])
    }

    @Test func claimsComeInOrderOfDueTime() throws {
        try register("did:a", "one")
        for number in 0..<5 { try queue(entry("did:a", uri: "\(number)"), at: now - Int64(number % 3)) }
        #expect(try claim(2).map(\.id) == [3, 2])
        #expect(try claim(2).map(\.id) == [5, 1])
        #expect(try claim(2).map(\.id) == [4])
        #expect(try counts.running == 5)
    }

    @Test func expiredRowsAreSettledOnTheWay() throws {
        try register("did:a", "one")
        for number in 0..<10 { try queue(entry("did:a", uri: "\(number)", expires: number < 7 ? now : now + 1)) }
        #expect(try claim(2).map(\.id) == [8, 9])
        #expect(try states.filter { $0 == "expired" }.count == 7)
        #expect(try claim(2).map(\.id) == [10])
        #expect(try counts.failed == 7)
    }

    @Test func lapsedLeasesReturn() throws {
        try register("did:a", "one")
        try queue(entry("did:a"))
        #expect(try claim().count == 1)
        #expect(try claim(at: now + 99).isEmpty)
        #expect(try claim(at: now + 100).count == 1)
        #expect(try database.writeBlocking { try $0.releaseLeases(now: now + 101) } == 1)
        #expect(try claim(at: now + 101).count == 1)
        #expect(try database.writeBlocking { try $0.releaseLeases(now: now) } == 1)
        #expect(try database.writeBlocking { try $0.releaseLeases(now: now) } == 0)
    }

    // MARK: Settling

    @Test func everyOutcomeHasItsState() throws {
        try register("did:a", "one")
        for number in 0..<4 { try queue(entry("did:a", uri: "\(number)")) }
        let outcomes: [PushSettlement.Outcome] = [.sent, .retry(at: now + 50, counted: false), .dead, .expired]
        for (push, outcome) in zip(try claim(), outcomes) { try settle(push, outcome, "reason", at: now + 1) }
        #expect(try states == ["sent", "retry", "dead", "expired"])
        #expect(
            try database.rows(
                "SELECT attempts, next_attempt_at, sent_at, failed_at, last_error FROM _push_queue ORDER BY id"
            )
                == [
                    [.integer(1), .null, .integer(now + 1), .null, .null],
                    [.integer(0), .integer(now + 50), .null, .null, .text("reason")],
                    [.integer(1), .null, .null, .integer(now + 1), .text("reason")],
                    [.integer(0), .null, .null, .integer(now + 1), .text("reason")],
                ])
        var expected = OutboxCounts()
        (expected.waiting, expected.sent, expected.failed, expected.nextDue) = (1, 1, 2, now + 50)
        #expect(try counts == expected)
    }

    @Test func anAnswerCountsOnce() throws {
        try register("did:a", "one")
        try queue(entry("did:a"))
        let push = try #require(try claim().first)
        try settle(push, .sent)
        for outcome in [PushSettlement.Outcome.sent, .dead, .expired, .retry(at: now, counted: true)] {
            try settle(push, outcome)
        }
        #expect(try states == ["sent"])
        #expect(try counts.sent == 1 && counts.failed == 0 && counts.waiting == 0)
    }

    @Test func aDeadTokenTakesItsRowsAlong() throws {
        try register("did:a", "dead")
        try register("did:a", "living")
        for number in 0..<3 { try queue(entry("did:a", uri: "\(number)")) }
        let pushes = try claim(4)
        try settle(pushes[0], .removeToken(registeredBefore: now + 1), "Unregistered")
        #expect(try database.read { try $0.tokens(did: nil) }.map(\.token) == ["living"])
        // One was in flight beside it, one was waiting, which is seen when its turn comes.
        try settle(pushes[2], .removeToken(registeredBefore: now + 1), "Unregistered")
        try settle(pushes[1], .sent)
        try settle(pushes[3], .sent)
        for push in try claim() { try settle(push, .sent) }
        #expect(try states == ["removed", "sent", "removed", "sent", "removed", "sent"])
        #expect(
            try database.texts("SELECT last_error FROM _push_queue WHERE state = 'removed' ORDER BY id") == [
                "Unregistered", "Unregistered", "the token is gone",
            ])
        #expect(try counts.failed == 3 && counts.sent == 3)
    }

    @Test func aTokenRegisteredSinceStays() throws {
        try register("did:a", "one", at: now)
        try queue(entry("did:a"))
        let push = try #require(try claim().first)
        try settle(push, .removeToken(registeredBefore: now), "Unregistered")
        #expect(try database.read { try $0.tokens(did: nil) }.count == 1)
        #expect(try states == ["dead"])
    }

    @Test func unregisteringSettlesWhatWaits() throws {
        let id = try register("did:a", "one")
        try queue(entry("did:a"), entry("did:a", uri: "2"), entry("did:a", uri: "3"))
        let pushes = try claim(2)
        try settle(pushes[0], .retry(at: now + 5, counted: true))
        _ = try database.writeBlocking { try $0.removeToken(id: id, did: "did:a") }
        #expect(try states == ["removed", "running", "available"])
        // A retry of the one in flight finds no token, as does the one that nobody has taken yet.
        try settle(pushes[1], .retry(at: now, counted: true))
        #expect(try claim().isEmpty)
        #expect(try states == ["removed", "removed", "removed"])
        #expect(try counts.failed == 3 && counts.waiting == 0)
    }

    @Test func countingReadsNoSettledRows() throws {
        let plan = try database.read { connection in
            let sql = "EXPLAIN QUERY PLAN \(Connection.countingSQL)"
            let statement = try connection.prepare(sql)
            var lines: [String] = []
            try statement.forEachRow { lines.append($0.text(3)) }
            return lines
        }
        #expect(
            !plan.contains {
                $0.contains("SCAN") && !$0.contains("INDEX _push_rows_") && !$0.contains("CONSTANT ROW")
                    && !$0.contains("_push_leases") && !$0.contains("_push_waiting")
            }, "\(plan)")
    }
}
