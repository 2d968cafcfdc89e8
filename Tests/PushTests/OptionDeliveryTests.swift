import ATProto
import HookKit
import Storage
import TestSupport
import Testing

@testable import Push

@Suite(.fewAtATime)
struct OptionDeliveryTests {
    private func send(
        _ notification: HookKit.Notification, through service: PushService, of bench: Bench, place: Int = 0,
        time: Int64? = nil
    ) throws -> OutboxWrites {
        let origin = SendOrigin(hook: "h", uri: "at://x/y.z/1", rev: "r", place: place, time: time)
        var entries: [OutboxEntry] = []
        var notes: [OutboxNote] = []
        switch service.draft(of: notification, origin: origin) {
        case .entry(let entry): entries = [entry]
        case .note(let note): notes = [note]
        case .nothing: break
        }
        let now = bench.clock.now
        let writes = try bench.database.writeBlocking { [entries, notes] in
            try $0.finish(job: 0, notifications: entries, notes: notes, now: now)
        }
        service.committed(writes)
        return writes
    }

    private func payloads(_ bench: Bench) -> [String] {
        bench.gateway.received.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test func countsABadgeWhenItSends() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(["aa01"])
        var notification = Notification(did: "did:plc:ann", title: "t", body: "b")
        notification.badge = .sql(
            "SELECT count(*) + $2 FROM _push_queue WHERE did = $1 AND sent_at > 0", ["did:plc:ann", 5])
        for place in 0..<2 {
            _ = try send(notification, through: bench.service, of: bench, place: place)
            #expect(await bench.drain() == 0)
        }
        #expect(
            payloads(bench)
                == [5, 6].map {
                    "{\"aps\":{\"badge\":\($0),\"alert\":{\"title\":\"t\",\"body\":\"b\"},\"sound\":\"default\"},\"did\":\"did:plc:ann\"}"
                })
    }

    @Test(arguments: ["SELECT 'x'", "SELECT -1", "SELECT", "SELECT 1 WHERE 0", "DELETE FROM _push_queue", "SELECT $1"])
    func sendsWithoutABadgeThatCannotBeCounted(_ sql: String) async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(["aa01"])
        var notification = Notification(did: "did:plc:ann", title: "t", body: "b")
        notification.badge = .sql(sql)
        _ = try send(notification, through: bench.service, of: bench)
        notification = Notification(did: "did:plc:ann")
        notification.sound = .none
        notification.badge = .sql(sql)
        _ = try send(notification, through: bench.service, of: bench, place: 1)
        #expect(await bench.drain() == 0)
        #expect(
            payloads(bench) == [#"{"aps":{"alert":{"title":"t","body":"b"},"sound":"default"},"did":"did:plc:ann"}"#])
        #expect(try bench.rows().map(\.error) == [nil, "badge not counted"])
        #expect(bench.lines.count { $0.hasPrefix("push badge_failed") } >= 1)
    }

    private struct NoDatabase: HookDatabase {
        func query(_ sql: String, _ parameters: [any SQLValue]) async throws -> [Row] { [] }
        func run(_ sql: String, _ parameters: [any SQLValue]) async throws -> Int { 0 }
        func lookup(_ collection: String, _ field: String, _ values: [String]) async throws -> [String: Value] { [:] }
    }

    @Test func aClosureDiesWithItsProcess() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(["aa01", "aa02"])
        await bench.service.stop(deadline: .zero)
        var notification = Notification(did: "did:plc:ann", title: "t", body: "b")
        notification.badge = .counted { _, did in did.utf8.count }
        _ = try send(notification, through: bench.service, of: bench)
        let next = try PushService(
            database: bench.database, apns: bench.configuration, emit: .silent, tuning: PushTuning(),
            clock: bench.clock, hookDatabase: NoDatabase())
        next.start()
        #expect(await next.drain(giveUpAfter: .seconds(3600)) == 0)
        _ = try send(notification, through: next, of: bench, place: 1)
        #expect(await next.drain(giveUpAfter: .seconds(3600)) == 0)
        await next.stop(deadline: .zero)
        let badges = payloads(bench).map { $0.contains(#""badge":11,"#) }
        #expect(badges == [false, false, true, true])
    }

    @Test func sendsTheHeadersThatWereAskedFor() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(["aa01"])
        var notification = Notification(did: "did:plc:ann", title: "t")
        notification.expiration = .once
        notification.priority = .considerate
        _ = try send(notification, through: bench.service, of: bench)
        _ = try send(.background(did: "did:plc:ann"), through: bench.service, of: bench, place: 1)
        #expect(await bench.drain() == 0)
        let requests = bench.gateway.received
        #expect(requests.map { $0["apns-priority"] } == ["5", "5"])
        #expect(requests.map { $0["apns-push-type"] } == ["alert", "background"])
        #expect(requests.first?["apns-expiration"] == "0")
        #expect(requests.last?["apns-expiration"] != "0")
    }

    @Test func queuesNothingForOldEvents() async throws {
        var tuning = PushTuning()
        tuning.maximumAge = .seconds(60)
        let bench = try Bench(tuning: tuning) { $0.answer(200) }
        try bench.register(["aa01"])
        let now = bench.clock.now
        let ages: [Int64] = [60_001, 59_000, -60_001]
        let queued = try ages.enumerated().map { place, age in
            try send(
                Notification(did: "did:plc:ann", title: "t"), through: bench.service, of: bench, place: place,
                time: now - age
            ).queued
        }
        #expect(queued == [0, 1, 1])
        #expect(await bench.drain() == 0)
        #expect(try bench.database.read { try $0.outboxNotes(uri: "at://x/y.z/1") }.map(\.reason) == ["too-old"])
        #expect(bench.service.outcomes["too-old"] == 1)
        #expect(bench.service.outcomes["queued"] == 2)
        #expect(bench.service.outcomes["sent"] == 2)
    }

    @Test func noticesWhatAnotherProcessMakesDue() async throws {
        var tuning = PushTuning()
        tuning.lookInterval = .seconds(30)
        // Time leaps here while a request is on its way.
        tuning.lease = .seconds(1_000_000)
        let clock = TestClock()
        let bench = try Bench(tuning: tuning, clock: clock) { request in
            if request.number == 1 { request.refuse(400, "BadTopic") } else { request.answer(200) }
        }
        try bench.register(["aa01"])
        try bench.send()
        #expect(await bench.drain() == 0)
        #expect(try bench.rows().map(\.state) == ["dead"])
        #expect(bench.service.outcomes["dead", "BadTopic"] == 1)

        let other = try Database(path: bench.database.path)
        let now = clock.now
        let retry = try other.writeBlocking { try $0.retryPush(1, now: now, lifetime: 1000) }
        #expect(retry == .due)
        other.close()
        var left = 2000
        while try bench.rows().map(\.state) != ["sent"], left > 0 {
            clock.advance(by: 30_000)
            await Task.yield()
            left -= 1
        }
        #expect(try bench.rows().map(\.state) == ["sent"])
        #expect(bench.gateway.accepted.count == 1)
    }

    @Test func sweepsWhatEndedLongAgo() async throws {
        let bench = try Bench { $0.answer(200) }
        try bench.register(["aa01"])
        try bench.send(1200)
        _ = try send(Notification(did: "did:plc:nobody", title: "t"), through: bench.service, of: bench)
        #expect(await bench.drain() == 0)
        await bench.service.stop(deadline: .zero)
        let later = TestClock(start: bench.clock.now + 8 * 86_400_000)
        let swept = AsyncStream.makeStream(of: Void.self)
        let service = try PushService(
            database: bench.database, apns: bench.configuration,
            emit: Emit { _, op, _ in if op == "swept" { swept.continuation.yield() } }, tuning: PushTuning(),
            clock: later)
        service.start()
        for await _ in swept.stream { break }
        #expect(try bench.rows().isEmpty)
        #expect(try bench.database.read { try $0.outboxNotes(uri: "at://x/y.z/1") }.isEmpty)
        await service.stop(deadline: .zero)
        later.end()
    }
}
