import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

/// What is said of rows by runs: that they are being sent, and that they were.
@Suite struct OutboxRunTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        try database.register("did:a", "one", at: now)
    }

    private func queue(_ numbers: some Sequence<Int>, in database: Database? = nil, at time: Int64 = now) throws -> Int
    {
        let entries = numbers.map { number in
            OutboxEntry(
                did: "did:a", hook: "hook", uri: "at://x/y.z/\(number)", rev: "r", place: 0, payload: Array("{}".utf8),
                collapseID: nil, priority: 10, pushType: "alert", expiresAt: time + 1000)
        }
        return try (database ?? self.database).writeBlocking {
            try $0.finish(job: 1, notifications: entries, now: time).queued
        }
    }

    @discardableResult
    private func claim(_ limit: Int = 999, at time: Int64 = now) throws -> [Int64] {
        try database.writeBlocking {
            try $0.claimPushes(limit: limit, now: time, leaseUntil: time + 100).pushes.map(\.id)
        }
    }

    @discardableResult
    private func settle(_ ids: [Int64], _ outcome: PushSettlement.Outcome = .sent, at time: Int64 = now) throws
        -> SettledPushes
    {
        let ends = ids.map { PushSettlement(id: $0, tokenID: 1, outcome: outcome, error: "word") }
        return try database.writeBlocking { try $0.settle(ends, now: time) }
    }

    private var states: [String] {
        get throws { try database.texts("SELECT state FROM _push_queue ORDER BY id").map { $0 ?? "" } }
    }

    private func runs(_ table: String) throws -> [ClosedRange<Int64>] {
        try database.rows("SELECT first, last FROM \(table) ORDER BY last").map {
            try #require($0[0].integer)...#require($0[1].integer)
        }
    }

    // MARK: Rows that end

    @Test func aSentRowIsNotWrittenAgain() throws {
        _ = try queue(0..<10)
        try claim()
        #expect(try settle([1, 2, 3, 4, 8, 9]).sent == 6)
        #expect(try runs("_push_sent") == [1...4, 8...9])
        #expect(try runs("_push_leases") == [5...7, 10...10])
        #expect(try database.texts("SELECT DISTINCT state FROM _push_rows") == ["running"])
        #expect(
            try states == Array(repeating: "sent", count: 4) + [
                "running", "running", "running", "sent", "sent", "running",
            ])
        #expect(try settle([10, 5, 7, 6], at: now + 1).sent == 4)
        #expect(try runs("_push_sent") == [1...4, 5...7, 8...9, 10...10])
        #expect(try runs("_push_leases").isEmpty)
        #expect(try database.number("SELECT count(*) FROM _push_queue WHERE sent_at = ?", [.integer(now + 1)]) == 4)
        #expect(try database.read { try $0.outboxCounts() }.sent == 10)
    }

    @Test func aRowThatWaitedIsSentLater() throws {
        _ = try queue(0..<3)
        try claim()
        try settle([2], .retry(at: now + 5, counted: true))
        #expect(try runs("_push_leases") == [1...1, 3...3])
        #expect(try claim(at: now + 5) == [2])
        try settle([2], at: now + 6)
        let row = try #require(try database.read { try $0.outboxRow(id: 2) })
        #expect(row.state == "sent" && row.attempts == 2 && row.error == nil && row.nextAttemptAt == nil)
        #expect(row.sentAt == "2023-11-14T22:13:20.006Z")
        // Its neighbours are not.
        #expect(try states == ["running", "sent", "running"])
    }

    /// Asked to be ended in any way, what nobody holds stays as it is.
    @Test(arguments: [
        PushSettlement.Outcome.sent, .dead, .expired, .retry(at: now + 7, counted: true),
        .removeToken(registeredBefore: 0),
    ]) func whatIsNotLeasedIsLeftAlone(_ outcome: PushSettlement.Outcome) throws {
        _ = try queue(0..<7)
        try claim(6)
        for (id, end) in [(1, .sent), (2, .dead), (3, .expired), (4, .retry(at: now + 900, counted: true))]
            as [(Int64, PushSettlement.Outcome)]
        { try settle([id], end) }
        let rows = try database.rows("SELECT * FROM _push_queue ORDER BY id")
        let counts = try database.read { try $0.outboxCounts() }
        #expect(try settle([1, 2, 3, 4, 7, 99, 0, -5], outcome, at: now + 1) == SettledPushes())
        #expect(try database.rows("SELECT * FROM _push_queue ORDER BY id") == rows)
        #expect(try database.read { try $0.outboxCounts() } == counts)
        // Together with what is.
        let settled = try settle([7, 6, 5, 4, 6, 5], outcome, at: now + 1)
        #expect(settled.sent + settled.failed == (outcome == .retry(at: now + 7, counted: true) ? 0 : 2))
        #expect(try runs("_push_leases").isEmpty)
        #expect(try database.rows("SELECT * FROM _push_queue ORDER BY id LIMIT 4") == Array(rows.prefix(4)))
    }

    @Test func aRowWithTwoEndsInOneBatchHasOne() throws {
        _ = try queue(0..<2)
        try claim()
        let ends = [PushSettlement.Outcome.dead, .sent, .retry(at: now, counted: true)].flatMap { outcome in
            [1, 2].map { PushSettlement(id: $0, tokenID: 1, outcome: outcome) }
        }
        let settled = try database.writeBlocking { try $0.settle(ends, now: now) }
        #expect(settled.sent + settled.failed == 2)
        let counts = try database.read { try $0.outboxCounts() }
        #expect(counts.sent + counts.failed == 2 && counts.running == 0 && counts.waiting == 0)
    }

    @Test func onlyWhatWasNotSentIsDueAgain() throws {
        _ = try queue(0..<6)
        try claim()
        try settle([2, 3, 6])
        #expect(try database.writeBlocking { try $0.releaseLeases(now: now + 1) } == 3)
        #expect(try states == ["retry", "sent", "sent", "retry", "retry", "sent"])
        #expect(try claim(at: now + 1) == [1, 4, 5])
        // The answers to the first attempt count, once.
        #expect(try settle([1, 4], at: now + 2).sent == 2)
        #expect(try settle([1, 4, 5], .retry(at: now + 3, counted: true), at: now + 3) == SettledPushes())
        #expect(try states == ["sent", "sent", "sent", "sent", "retry", "sent"])
    }

    @Test func neitherRetriedNorDroppedOnceItIsSent() throws {
        _ = try queue(0..<2)
        try claim()
        try settle([1])
        for (id, state) in [(1, "sent"), (2, "running")] as [(Int64, String)] {
            #expect(
                try database.writeBlocking { try $0.retryPush(id, now: now, lifetime: 1) } == .inState(state))
            #expect(try database.writeBlocking { try $0.dropPush(id, now: now) } == .inState(state))
        }
        #expect(try states == ["sent", "running"])
    }

    // MARK: Ids

    private func sweep(before time: Int64, limit: Int = 4) throws -> Int {
        var sweep = OutboxSweep()
        repeat {
            sweep = try database.writeBlocking { [sweep] in try $0.sweep(sweep, before: time, limit: limit) }
        } while !sweep.isDone
        return sweep.removed
    }

    /// The newest rows go, and their ids come again.
    @Test(arguments: [1, 3, 100]) func newRowsAreNotTakenForSweptOnes(_ limit: Int) throws {
        _ = try queue(0..<10)
        try claim()
        try settle(Array(1...10))
        #expect(try sweep(before: now + 10, limit: limit) == 10)
        #expect(try runs("_push_sent").isEmpty && states.isEmpty)
        #expect(try queue(100..<120, at: now + 20) == 20)
        #expect(try states == Array(repeating: "available", count: 20))
        let claimed = try claim(at: now + 20)
        #expect(claimed.count == 20)
        #expect(try states == Array(repeating: "running", count: 20))
        try settle(Array(claimed.prefix(5)), at: now + 21)
        #expect(try states == Array(repeating: "sent", count: 5) + Array(repeating: "running", count: 15))
    }

    @Test func aSweepEndsWithinARun() throws {
        _ = try queue(0..<10)
        try claim()
        try settle(Array(1...10))
        let step = try database.writeBlocking { try $0.sweep(OutboxSweep(), before: now + 10, limit: 4) }
        #expect(!step.isDone && step.removed == 4)
        #expect(try runs("_push_sent") == [5...10] && states == Array(repeating: "sent", count: 6))
        #expect(try queue([3, 4]) == 1)
        #expect(try states.last == "available")
    }

    /// Two processes: each gives out ids behind the other's.
    @Test func processesQueueInTurn() throws {
        let other = try scratch.open()
        defer { other.close() }
        for round in 0..<4 {
            #expect(try queue([round], in: other) == 1)
            #expect(try queue([10 + round, 20 + round, round]) == 2)
        }
        #expect(try claim() == (1...12).map { $0 })
    }

    // MARK: The runs themselves

    /// Whatever is said of rows and taken back, in whatever order, the table holds that and nothing else.
    @Test(arguments: 0..<20) func holdWhatIsSaidOfThem(_ seed: Int) throws {
        var random = SplitMix(state: UInt64(seed))
        var model: [Int64: Int64] = [:]
        for step in 0..<60 {
            let ids = Set(
                (0..<Int.random(in: 1...12, using: &random)).map { _ in Int64.random(in: 1...40, using: &random) })
            if Bool.random(using: &random) {
                let new = ids.filter { model[$0] == nil }
                try database.writeBlocking { try $0.statements().sent.add(IDRuns(Array(new)), Int64(step)) }
                for id in new { model[id] = Int64(step) }
            } else {
                let taken = try database.writeBlocking { try $0.statements().sent.take(IDRuns(Array(ids))) }
                #expect(taken.flatMap { Array($0) } == ids.filter { model[$0] != nil }.sorted())
                #expect(taken.idCount == taken.flatMap { Array($0) }.count)
                for id in 0...41 as ClosedRange<Int64> {
                    #expect(taken.holds(id) == (ids.contains(id) && model[id] != nil))
                }
                for id in ids { model[id] = nil }
            }
            let found = try database.rows("SELECT first, last, at FROM _push_sent ORDER BY last").map { row in
                try (#require(row[0].integer)...#require(row[1].integer), #require(row[2].integer))
            }
            #expect(zip(found, found.dropFirst()).allSatisfy { $0.0.upperBound < $1.0.lowerBound })
            let said = found.flatMap { rows, at in rows.map { ($0, at) } }
            #expect(Dictionary(uniqueKeysWithValues: said) == model)
        }
    }

    // MARK: Plans

    private func plan(_ sql: String) throws -> [String] {
        try database.read { connection in
            var lines: [String] = []
            try connection.prepare("EXPLAIN QUERY PLAN \(sql)").forEachRow { lines.append($0.text(3)) }
            return lines
        }
    }

    /// People's queries: a row's run is looked up.
    @Test(arguments: [
        ("SELECT * FROM _push_queue WHERE id = 5", ["SEARCH r USING INTEGER PRIMARY KEY"]),
        ("SELECT state FROM _push_queue WHERE dedupe_key = x'00'", ["INDEX sqlite_autoindex__push_rows_1"]),
        ("SELECT count(*) FROM _push_queue WHERE sent_at > 5", ["SCAN r"]),
        ("SELECT * FROM _push_queue WHERE state = 'sent' ORDER BY id DESC LIMIT 9", ["SCAN r"]),
    ]) func theViewLooksUpRuns(_ sql: String, _ wanted: [String]) throws {
        let lines = try plan(sql)
        for part in wanted { #expect(lines.first?.contains(part) == true, "\(lines)") }
        for run in ["SCAN s", "SCAN w", "SCAN _push_sent", "SCAN _push_waiting"] {
            #expect(!lines.contains { $0.hasPrefix(run) }, "\(lines)")
        }
        #expect(!lines.contains { $0.contains("TEMP B-TREE") }, "\(lines)")
    }
}
