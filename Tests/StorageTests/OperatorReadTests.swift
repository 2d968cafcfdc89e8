import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

/// What operators see of queue, devices and sources, and how they give pushes up.
@Suite struct OperatorReadTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
    }

    @discardableResult
    private func register(_ did: String, _ token: String, label: String? = nil) throws -> Int64 {
        try database.register(did, token, label: label, at: now)
    }

    private func queue(_ numbers: ClosedRange<Int>, did: String = "did:a", at time: Int64 = now) throws -> OutboxWrites
    {
        let entries = numbers.map {
            OutboxEntry(
                did: did, hook: "hook", uri: "at://x/y.z/\($0)", rev: "3kabcdefghij2", place: 0,
                payload: Array("{}".utf8), collapseID: nil, priority: 10, pushType: "alert", expiresAt: now + 100_000)
        }
        return try database.writeBlocking { try $0.finish(job: 1, notifications: entries, now: time) }
    }

    /// Claims everything that is due, and ends it.
    private func end(_ outcome: PushSettlement.Outcome, at time: Int64 = now) throws {
        try database.writeBlocking { transaction in
            let rows = try transaction.claimPushes(limit: 100, now: time, leaseUntil: time + 100).pushes
            try transaction.settle(
                rows.map { PushSettlement(id: $0.id, tokenID: $0.device.id, outcome: outcome, error: "word") },
                now: time)
        }
    }

    private func states() throws -> [String?] { try database.texts("SELECT state FROM _push_queue ORDER BY id") }

    private func drop(_ id: Int64) throws -> OutboxDrop {
        try database.writeBlocking { try $0.dropPush(id, now: now + 7) }
    }

    @Test func listsDeadLettersByTheirIndex() throws {
        let token = try register("did:a", "0123456789abcdef")
        _ = try queue(1...5)
        try end(.dead)
        _ = try queue(6...7)
        let rows = try database.read { try $0.deadLetters(limit: 3) }
        #expect(rows.map(\.id) == [5, 4, 3])
        #expect(rows.allSatisfy { $0.state == "dead" && $0.error == "word" && $0.tokenSuffix == "89abcdef" })
        #expect(try database.read { try $0.deadLetters(before: 3, limit: 9) }.map(\.id) == [2, 1])
        #expect(try database.read { try $0.deadLetters(before: 1, limit: 9) }.isEmpty)
        _ = try database.writeBlocking { try $0.removeToken(id: token, did: nil) }
        #expect(try database.read { try $0.deadLetters(limit: 1) }.first?.tokenSuffix == nil, "its device is gone")
    }

    @Test func listsWhatWaitsInTheOrderInWhichItIsDue() throws {
        try register("did:a", "one")
        _ = try queue(1...2)
        try end(.retry(at: now + 500, counted: true))
        _ = try queue(3...4, at: now + 100)
        let rows = try database.read { try $0.waitingPushes(limit: 3) }
        #expect(rows.map(\.id) == [3, 4, 1])
        #expect(rows.map(\.state) == ["available", "available", "retry"])
        #expect(rows.last?.attempts == 1)
    }

    @Test func dropsForGood() throws {
        try register("did:a", "one")
        _ = try queue(1...2)
        try end(.dead)
        _ = try queue(3...3)
        #expect(try drop(1) == .dropped)
        #expect(try drop(3) == .dropped, "what waits can be dropped as well")
        #expect(try drop(1) == .inState("dropped"))
        #expect(try drop(9) == .noSuchRow)
        #expect(try states() == ["dropped", "dead", "dropped"])
        #expect(try database.read { try $0.outboxDepth(now: now) }.dead == 1)
        let counts = try database.read { try $0.outboxCounts() }
        #expect(counts.failed == 3 && counts.waiting == 0)
        // Its reason stays, for who asks; and the same notification is not queued anew.
        let rows = try database.read { try $0.outboxRows(state: "dropped", limit: 9) }
        #expect(rows.map(\.error) == ["dropped while it waited", "word"])
        #expect(try queue(1...3).queued == 0)
    }

    @Test func leavesAloneWhatIsOnItsWay() throws {
        try register("did:a", "one")
        _ = try queue(1...1)
        _ = try database.writeBlocking { try $0.claimPushes(limit: 9, now: now, leaseUntil: now + 100) }
        #expect(try drop(1) == .inState("running"))
        try database.writeBlocking { transaction in
            _ = try transaction.settle([PushSettlement(id: 1, tokenID: 1, outcome: .sent)], now: now)
        }
        #expect(try drop(1) == .inState("sent"))
        #expect(try states() == ["sent"])
    }

    @Test func retriesWhatWasDropped() throws {
        try register("did:a", "one")
        _ = try queue(1...1)
        try end(.dead)
        _ = try drop(1)
        #expect(try database.writeBlocking { try $0.retryPush(1, now: now + 9, lifetime: 100) } == .due)
        #expect(try states() == ["retry"])
        #expect(try database.read { try $0.outboxCounts() }.failed == 0)
    }

    @Test func dropsAllThatAreDeadInSteps() throws {
        try register("did:a", "one")
        _ = try queue(1...5)
        try end(.dead)
        _ = try queue(6...6)
        #expect(try database.writeBlocking { try $0.dropDeadPushes(limit: 3) } == 3)
        #expect(try states() == ["dropped", "dropped", "dropped", "dead", "dead", "available"])
        #expect(try database.writeBlocking { try $0.dropDeadPushes(limit: 3) } == 2)
        #expect(try database.writeBlocking { try $0.dropDeadPushes(limit: 3) } == 0)
    }

    @Test func sweepsWhatWasDropped() throws {
        try register("did:a", "one")
        _ = try queue(1...1)
        try end(.dead)
        _ = try drop(1)
        _ = try database.writeBlocking { try $0.sweep(OutboxSweep(), before: now + 1000, limit: 10) }
        #expect(try states().isEmpty)
    }

    @Test func listsDevicesByTheBeginningOfTheirDID() throws {
        for (did, token) in [
            ("did:plc:ab", "1111"), ("did:plc:a", "2222"), ("did:plc:b", "aaaa-long-token"), ("did:plc:a", "0000"),
            ("did:plc:a~", "3333"), ("did:web:a", "4444"),
        ] { try register(did, token, label: "<b>") }
        let own = try database.read { try $0.devices(didPrefix: "did:plc:a", limit: 9) }
        #expect(own.map(\.did) == ["did:plc:a", "did:plc:a", "did:plc:ab", "did:plc:a~"])
        #expect(own.map(\.id) == [2, 4, 1, 5], "those of one account in the order of registration")
        #expect(own.allSatisfy { $0.label == "<b>" && $0.environment == "sandbox" })
        let long = try database.read { try $0.devices(didPrefix: "did:plc:b", limit: 9) }
        #expect(long.map(\.tokenSuffix) == ["g-token"])
        #expect(own.map(\.tokenSuffix) == ["22", "00", "11", "33"], "half of a short one at most")

        var seen: [Int64] = []
        var place: (did: String, id: Int64) = ("", 0)
        while true {
            let part = try database.read { [place] in try $0.devices(didPrefix: "", after: place, limit: 2) }
            guard let last = part.last else { break }
            seen += part.map(\.id)
            place = (last.did, last.id)
        }
        #expect(seen == [2, 4, 1, 5, 3, 6])
        let counts = try database.read { try $0.deviceCounts() }
        #expect(counts.devices == 6 && counts.accounts == 5)
    }

    @Test func knowsWhichSourceWasReadLast() throws {
        #expect(try database.read { try $0.latestPosition() } == nil)
        for (source, position, time) in [("relay", 5, now), ("recording", 9, now + 20), ("relay", 7, now + 10)] {
            var batch = RecordBatch()
            batch.cursor = (source, Int64(position))
            batch.now = time
            _ = try database.writeBlocking { [batch] in try $0.apply(batch) }
        }
        let latest = try #require(try database.read { try $0.latestPosition() })
        #expect(latest.source == "recording" && latest.position == 9)
        #expect(latest.updatedAt == "2023-11-14T22:13:20.020Z")
    }
}
