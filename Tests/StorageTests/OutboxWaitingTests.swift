import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

/// Rows that nobody has taken yet, which wait as runs, beside those that wait again.
@Suite struct OutboxWaitingTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        try database.register("did:a", "one", at: now)
    }

    private func queue(_ uris: ClosedRange<Int>, at time: Int64 = now, lifetime: Int64 = 1000) throws {
        let entries = uris.map { number in
            OutboxEntry(
                did: "did:a", hook: "hook", uri: "at://x/y.z/\(number)", rev: "r", place: 0, payload: Array("{}".utf8),
                collapseID: nil, priority: 10, pushType: "alert", expiresAt: time + lifetime)
        }
        _ = try database.writeBlocking { try $0.finish(job: 1, notifications: entries, now: time) }
    }

    private func claim(_ limit: Int = 99, at time: Int64 = now) throws -> [Int64] {
        try database.writeBlocking {
            try $0.claimPushes(limit: limit, now: time, leaseUntil: time + 100).pushes.map(\.id)
        }
    }

    private func settle(_ id: Int64, _ outcome: PushSettlement.Outcome) throws {
        let end = PushSettlement(id: id, tokenID: 1, outcome: outcome, error: "word")
        _ = try database.writeBlocking { try $0.settle([end], now: now) }
    }

    private var waiting: [ClosedRange<Int64>] {
        get throws {
            try database.rows("SELECT first, last FROM _push_waiting ORDER BY last").map {
                try #require($0[0].integer)...#require($0[1].integer)
            }
        }
    }

    private func states(_ ids: Int64...) throws -> [String?] {
        try ids.flatMap { try database.texts("SELECT state FROM _push_queue WHERE id = $1", [.integer($0)]) }
    }

    @Test func areTakenInOrderOfDueTimeWithThoseThatWaitAgain() throws {
        try queue(1...3, at: now + 20)
        try queue(4...6)
        try queue(7...9, at: now + 10)
        #expect(try claim(4, at: now + 9) == [4, 5, 6])
        #expect(try database.read { try $0.nextPushDue() } == now + 10)
        #expect(try claim(1, at: now + 30) == [7])
        #expect(try waiting == [1...3, 8...9])
        try settle(5, .retry(at: now + 15, counted: true))
        try settle(7, .retry(at: now + 40, counted: true))
        #expect(try database.read { try $0.waitingPushes(limit: 4) }.map(\.id) == [8, 9, 5, 1])
        #expect(try claim(4, at: now + 30) == [8, 9, 5, 1])
        #expect(try waiting == [2...3])
        #expect(try claim(at: now + 50) == [2, 3, 7])
        #expect(try waiting.isEmpty)
        #expect(try database.read { try $0.nextPushDue() } == nil)
    }

    @Test func areCounted() throws {
        try queue(1...5)
        try queue(6...7, at: now + 50)
        _ = try claim(2)
        try settle(1, .retry(at: now + 5, counted: true))
        let counts = try database.read { try $0.outboxCounts() }
        #expect(counts.waiting == 6 && counts.running == 1 && counts.nextDue == now)
        let depth = try database.read { try $0.outboxDepth(now: now + 9) }
        #expect(depth.due == 4 && depth.retry == 2 && depth.running == 1 && depth.nextDue == now)
        #expect(try states(1, 2, 3, 7) == ["retry", "running", "available", "available"])
        #expect(try database.number("SELECT next_attempt_at FROM _push_queue WHERE id = 7") == now + 50)
    }

    @Test func areDroppedAndHastenedOneByOne() throws {
        try queue(1...5)
        let dropped = try database.writeBlocking { try $0.dropPush(3, now: now) }
        let retried = try database.writeBlocking { try $0.retryPush(5, now: now - 1, lifetime: 1000) }
        #expect(dropped == .dropped && retried == .due)
        #expect(try waiting == [1...2, 4...4])
        #expect(try states(2, 3, 4, 5) == ["available", "dropped", "available", "retry"])
        #expect(try database.writeBlocking { try $0.dropPush(3, now: now) } == .inState("dropped"))
        #expect(try claim() == [5, 1, 2, 4])
        #expect(try database.read { try $0.outboxCounts() }.failed == 1)
    }

    @Test func endWhenTheirTimeIsOver() throws {
        try queue(1...3, lifetime: 10)
        try queue(4...4, at: now + 5)
        #expect(try claim(1) == [1])
        #expect(try claim(1, at: now + 10) == [4])
        #expect(try states(1, 2, 3, 4) == ["running", "expired", "expired", "running"])
        #expect(try waiting.isEmpty)
    }

    /// What fails later in the same transaction leaves no run behind.
    @Test func leaveWithTheirTransaction() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try database.writeBlocking { transaction in
                let entry = OutboxEntry(
                    did: "did:a", hook: "hook", uri: "at://x/y.z/1", rev: "r", place: 0, payload: Array("{}".utf8),
                    collapseID: nil, priority: 10, pushType: "alert", expiresAt: now + 9)
                _ = try transaction.finish(job: 1, notifications: [entry], now: now)
                throw Stop()
            }
        }
        #expect(try waiting.isEmpty && claim().isEmpty)
    }

    /// Somebody's own hand in the tables must not make a claim look for ever.
    @Test func thatWereDeletedByHandAreNotWaitedFor() throws {
        try queue(1...6)
        try database.writeBlocking { try $0.connection.execute("DELETE FROM _push_rows WHERE id IN (1, 2, 4)") }
        #expect(try claim(2) == [3, 5])
        #expect(try claim() == [6])
        #expect(try claim().isEmpty)
        try queue(11...14)
        #expect(try claim().count == 4)
    }
}
