import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

@Suite struct OutboxOperatorTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
    }

    @discardableResult
    private func register(_ did: String, _ token: String) throws -> Int64 {
        try database.register(did, token, at: now)
    }

    private func entry(
        _ did: String, uri: String = "at://x/y.z/1", rev: String = "3kabcdefghij2", dedupeID: String? = nil
    ) -> OutboxEntry {
        OutboxEntry(
            did: did, hook: "hook", uri: uri, rev: rev, place: 0, dedupeID: dedupeID, payload: Array("{}".utf8),
            collapseID: nil, priority: 10, pushType: "alert", expiresAt: now + 1000, isOnce: true, badge: "b")
    }

    private func queue(_ entries: OutboxEntry..., notes: [OutboxNote] = [], at time: Int64 = now) throws
        -> OutboxWrites
    {
        try database.writeBlocking { try $0.finish(job: 1, notifications: entries, notes: notes, now: time) }
    }

    /// Claims everything and ends it.
    private func end(_ outcome: PushSettlement.Outcome, at time: Int64 = now) throws {
        try database.writeBlocking { transaction in
            let rows = try transaction.claimPushes(limit: 100, now: time, leaseUntil: time + 100).pushes
            let ends = rows.map { PushSettlement(id: $0.id, tokenID: $0.device.id, outcome: outcome, error: "word") }
            try transaction.settle(ends, now: time)
        }
    }

    private func reasons(_ uri: String = "at://x/y.z/1") throws -> [String] {
        try database.read { try $0.outboxNotes(uri: uri) }.map(\.reason)
    }

    @Test func aDedupeIDCountsOnceWhateverTheEvent() throws {
        try register("did:a", "one")
        try register("did:b", "two")
        #expect(try queue(entry("did:a", dedupeID: "m")).queued == 1)
        // Another event, another rev: the same.
        let again = try queue(entry("did:a", uri: "at://x/y.z/2", rev: "3kzzzzzzzzzz2", dedupeID: "m"))
        #expect(again.queued == 0 && again.deduplicated == 1)
        #expect(try reasons("at://x/y.z/2") == ["deduplicated"])
        // Another person, another id, and none at all are not.
        #expect(try queue(entry("did:b", dedupeID: "m"), entry("did:a", dedupeID: "n"), entry("did:a")).queued == 3)
        // A device that came later has not had it.
        try register("did:a", "three")
        let third = try queue(entry("did:a", uri: "at://x/y.z/3", dedupeID: "m"))
        #expect(third.queued == 1 && third.deduplicated == 1)
    }

    @Test func notesWhatMadeNoRow() throws {
        let note = OutboxNote(
            uri: "at://x/y.z/1", hook: "hook", did: nil, reason: "failed: " + String(repeating: "é", count: 5000))
        #expect(try queue(entry("did:nobody"), notes: [note]).withoutToken == 1)
        let notes = try database.read { try $0.outboxNotes(uri: "at://x/y.z/1") }
        #expect(notes.map(\.did) == ["did:nobody", nil])
        #expect(notes.first?.reason == "no-token" && notes.first?.time == now)
        #expect((notes.last?.reason.utf8.count ?? 0) < 320)
        #expect(try reasons("at://x/y.z/2").isEmpty)
    }

    @Test func listsWithoutTokens() throws {
        try register("did:a", "0123456789abcdef")
        _ = try queue(entry("did:a"), entry("did:a", uri: "at://x/y.z/2"))
        try end(.dead)
        _ = try queue(entry("did:a", uri: "at://x/y.z/3"))
        let rows = try database.read { try $0.outboxRows(limit: 10) }
        #expect(rows.map(\.id) == [3, 2, 1])
        #expect(rows.map(\.state) == ["available", "dead", "dead"])
        #expect(rows.allSatisfy { $0.tokenSuffix == "89abcdef" && !"\($0)".contains("01234567") })
        #expect(rows[1].error == "word" && rows[1].failedAt == "2023-11-14T22:13:20.000Z" && rows[1].attempts == 1)
        #expect(try database.read { try $0.outboxRows(state: "dead", limit: 1) }.map(\.id) == [2])
        #expect(try database.read { try $0.outboxRows(did: "did:b", limit: 9) }.isEmpty)
        #expect(try database.read { try $0.outboxRows(uri: "at://x/y.z/2", limit: 9) }.map(\.id) == [2])
    }

    @Test func retriesWhatHasEnded() throws {
        let token = try register("did:a", "one")
        for number in 0..<3 { _ = try queue(entry("did:a", uri: "at://x/y.z/\(number)")) }
        try end(.dead)
        let later = now + 5000
        func retry(_ id: Int64) throws -> OutboxRetry {
            try database.writeBlocking { try $0.retryPush(id, now: later, lifetime: 700) }
        }
        #expect(try database.read { try $0.outboxCounts() }.failed == 3)
        #expect(try retry(1) == .due)
        let counts = try database.read { try $0.outboxCounts() }
        #expect(counts.failed == 2 && counts.waiting == 1 && counts.nextDue == later)
        for (time, due, retry) in [(later - 1, 0, 1), (later, 1, 0)] {
            let depth = try database.read { try $0.outboxDepth(now: time) }
            #expect(depth.due == due && depth.retry == retry && depth.dead == 2 && depth.nextDue == later)
        }
        let claimed = try database.writeBlocking {
            try $0.claimPushes(limit: 9, now: later, leaseUntil: later + 9).pushes
        }
        #expect(claimed.map(\.id) == [1] && claimed[0].attempts == 0 && claimed[0].expiresAt == later + 700)
        #expect(claimed[0].message.isOnce && claimed[0].message.badge == "b")
        #expect(try retry(1) == .inState("running"))
        #expect(try retry(99) == .noSuchRow)
        #expect(try database.writeBlocking { try $0.deadPushes(after: 0, limit: 9) } == [2, 3])
        #expect(try database.writeBlocking { try $0.deadPushes(after: 2, limit: 9) } == [3])
        _ = try database.writeBlocking { try $0.removeToken(id: token, did: nil) }
        #expect(try retry(2) == .tokenIsGone)
        #expect(try database.writeBlocking { try $0.deadPushes(after: 0, limit: 9) }.isEmpty)
    }

    @Test func keepsTheNewestNotesAlone() throws {
        for number in 0..<30 { _ = try queue(entry("did:none", uri: "\(number)")) }
        var sweep = OutboxSweep()
        repeat {
            sweep = try database.writeBlocking { [sweep] in
                try $0.sweep(sweep, before: now - 1, limit: 4, noteLimit: 10)
            }
        } while !sweep.isDone
        #expect(sweep.removed == 20)
        #expect(try database.texts("SELECT uri FROM _push_notes ORDER BY id") == (20..<30).map { "\($0)" })
    }

    @Test func hastensWhatWaitsForAReason() throws {
        try register("did:a", "one")
        for number in 0..<6 { _ = try queue(entry("did:a", uri: "at://x/y.z/\(number)")) }
        let claimed = try database.writeBlocking { try $0.claimPushes(limit: 9, now: now, leaseUntil: now + 9) }.pushes
        let reasons = ["key stopped: a", "key stopped: b", "HTTP 503", nil, "a key stopped"]
        let ends = zip(claimed, reasons).map { push, reason in
            PushSettlement(
                id: push.id, tokenID: push.device.id, outcome: .retry(at: now + 900, counted: false), error: reason)
        }
        try database.writeBlocking { _ = try $0.settle(ends, now: now) }
        let steps = try (0..<3).map { _ in
            try database.writeBlocking { try $0.hastenPushes(whoseErrorBegins: "key stopped", now: now + 1, limit: 1) }
        }
        #expect(steps == [1, 1, 0])
        #expect(try database.read { try $0.outboxDepth(now: now + 1) }.due == 2)
        #expect(try database.read { try $0.outboxDepth(now: now + 1) }.retry == 3)
    }

    @Test func sweepsEndedRowsInSteps() throws {
        try register("did:a", "one")
        for number in 0..<10 { _ = try queue(entry("did:a", uri: "at://x/y.z/\(number)"), entry("did:none")) }
        try end(.sent, at: now + 100)
        _ = try queue(entry("did:a", uri: "at://x/y.z/waits"), at: now + 50)
        _ = try queue(entry("did:a", uri: "at://x/y.z/new"), entry("did:none", uri: "new"), at: now + 5000)
        var sweep = OutboxSweep()
        var steps = 0
        repeat {
            sweep = try database.writeBlocking { [sweep] in try $0.sweep(sweep, before: now + 1000, limit: 4) }
            steps += 1
        } while !sweep.isDone && steps < 50
        #expect(sweep.removed == 20)
        #expect(steps >= 3)
        #expect(
            try database.texts("SELECT uri FROM _push_queue ORDER BY id") == ["at://x/y.z/waits", "at://x/y.z/new"])
        #expect(try database.texts("SELECT uri FROM _push_notes") == ["new"])
        // What ended later is not swept early.
        let early = try database.writeBlocking { try $0.sweep(OutboxSweep(), before: now + 10, limit: 4) }
        #expect(early.isDone && early.removed == 0)
    }

    @Test func knowsWhatBecameOfARecord() throws {
        let schema = makeSchema()
        let uri = "at://did:plc:alice/app.example.x/1"
        func trace() throws -> RecordTrace { try database.read { try $0.trace(of: uri, collection: "app.example.x") } }
        #expect(try trace() == RecordTrace())
        let job = try #require(
            try database.apply(change(schema, .create, "app.example.x", "1", rev: "a", map([:]), wanted: true)).jobs
                .first)
        #expect(try trace().rev == "a" && trace().isPending)
        _ = try database.writeBlocking { try $0.finish(job: job.id, notifications: [], now: now) }
        #expect(try !trace().isPending)
        try database.apply(change(schema, .delete, "app.example.x", "1", rev: "b"))
        #expect(try trace().rev == nil && trace().deletedIn == "b")
    }
}
