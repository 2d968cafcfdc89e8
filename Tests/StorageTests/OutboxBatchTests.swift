import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

/// Many notifications at once, and what they share.
@Suite struct OutboxBatchTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
    }

    private func register(_ did: String, _ tokens: String..., in database: Database? = nil) throws {
        for token in tokens { try (database ?? self.database).register(did, token, at: now) }
    }

    private func entry(_ number: Int, to did: String = "did:a") -> OutboxEntry {
        OutboxEntry(
            did: did, hook: "hook", uri: "at://x/y.z/\(number)", rev: "r", place: 0, payload: Array("{}".utf8),
            collapseID: number % 2 == 0 ? "even" : nil, priority: 10, pushType: "alert", expiresAt: now + 1000,
            badge: number % 3 == 0 ? "third" : nil)
    }

    private func queue(_ entries: [OutboxEntry]) throws -> OutboxWrites {
        try database.writeBlocking { try $0.finish(job: 1, notifications: entries, now: now) }
    }

    private func claim() throws -> [QueuedPush] {
        try database.writeBlocking { try $0.claimPushes(limit: 9999, now: now, leaseUntil: now + 100).pushes }
    }

    private func end(_ pushes: some Sequence<QueuedPush>, at time: Int64 = now) throws {
        let ends = pushes.map { PushSettlement(id: $0.id, tokenID: $0.device.id, outcome: .sent) }
        _ = try database.writeBlocking { try $0.settle(ends, now: time) }
    }

    /// Around the numbers of rows that one statement takes.
    @Test(arguments: [0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 65, 85, 150]) func writesAnyNumberOfRows(_ count: Int) throws {
        try register("did:a", "one")
        let writes = try queue((0..<count).map { entry($0) })
        #expect(writes.queued == count && writes.deduplicated == 0)
        let pushes = try claim()
        #expect(pushes.map(\.id) == (0..<Int64(count)).map { $0 + 1 })
        #expect(
            try database.read { try $0.outboxRows(limit: 999) }.reversed().map(\.uri)
                == (0..<count).map { "at://x/y.z/\($0)" })
        for (number, push) in pushes.enumerated() {
            #expect(push.message.collapseID == (number % 2 == 0 ? "even" : nil))
            #expect(push.message.badge == (number % 3 == 0 ? "third" : nil))
        }
    }

    @Test func leavesWhatIsThereAlready() throws {
        try register("did:a", "one")
        #expect(try queue([3, 40, 41, 70].map { entry($0) }).queued == 4)
        // Within one statement some are there, and some come twice.
        let writes = try queue(((0..<80).map { $0 } + [5, 79, 79, 3]).map { entry($0) })
        #expect(writes.queued == 76 && writes.deduplicated == 8)
        let uris = try database.read { try $0.outboxRows(limit: 999) }.reversed().map(\.uri)
        let wanted = [3, 40, 41, 70] + (0..<80).filter { ![3, 40, 41, 70].contains($0) }
        #expect(uris == wanted.map { "at://x/y.z/\($0)" })
        #expect(try database.number("SELECT count(*) FROM _push_queue") == 80)
        #expect(try database.number("SELECT count(*) FROM _push_notes WHERE reason = 'deduplicated'") == 8)
        #expect(try queue((0..<80).map { entry($0) }).queued == 0)
    }

    @Test func devicesShareAMessage() throws {
        try register("did:a", "one", "two", "three")
        try register("did:b", "four")
        #expect(try queue([entry(1), entry(2, to: "did:b"), entry(3, to: "did:nobody"), entry(4)]).queued == 7)
        let pushes = try claim()
        #expect(Set(pushes.map { ObjectIdentifier($0.message) }).count == 3)
        #expect(pushes.map(\.device.token) == ["one", "three", "two", "four", "one", "three", "two"])
    }

    /// Wherever the sweep's steps fall, within a run of sent rows too.
    @Test(arguments: [1, 2, 3, 5, 100]) func sweepsRowsWithTheirRuns(_ limit: Int) throws {
        try register("did:a", "one", "two", "three")
        _ = try queue((0..<4).map { entry($0) })
        let pushes = try claim()
        try end(pushes.filter { $0.id != 5 && $0.id != 12 })
        try end(pushes.filter { $0.id == 5 }, at: now + 2000)
        var sweep = OutboxSweep()
        repeat {
            sweep = try database.writeBlocking { [sweep] in try $0.sweep(sweep, before: now + 1000, limit: limit) }
        } while !sweep.isDone
        #expect(sweep.removed == 10)
        let left = try database.read { try $0.outboxRows(limit: 99) }
        #expect(left.map(\.uri) == ["at://x/y.z/3", "at://x/y.z/1"] && left.map(\.state) == ["running", "sent"])
        #expect(try database.rows("SELECT first, last FROM _push_sent") == [[.integer(5), .integer(5)]])
        let writes = try queue([entry(9)])
        #expect(writes.queued == 3)
    }

    @Test func leasesEndWithTheirRows() throws {
        try register("did:a", "one")
        _ = try queue((0..<10).map { entry($0) })
        let first = try claim()
        _ = try queue((10..<20).map { entry($0) })
        let second = try claim()
        func leases() throws -> Int64? { try database.number("SELECT count(*) FROM _push_leases") }
        #expect(try leases() == 2 && database.read { try $0.outboxCounts() }.running == 20)
        try end(first.dropLast())
        try end(second)
        #expect(try leases() == 1 && database.read { try $0.outboxDepth(now: now) }.running == 1)
        try end(first.suffix(1))
        #expect(try leases() == 0 && database.read { try $0.outboxCounts() }.running == 0)
    }

    // MARK: Devices that are remembered

    @Test func hearsOfDevicesThatAnotherProcessRegisters() throws {
        try register("did:a", "one")
        #expect(try queue([entry(1)]).queued == 1)
        let other = try scratch.open()
        try register("did:a", "two", in: other)
        #expect(try queue([entry(2)]).queued == 2)
        _ = try other.writeBlocking { try $0.removeToken(did: "did:a", token: "one") }
        #expect(try queue([entry(3)]).queued == 1)
        other.close()
    }

    /// DIDs that are alike, as long as can be kept in place, longer, and odd.
    @Test func tellsPeopleApart() throws {
        let stem = "did:plc:" + String(repeating: "a", count: 23)
        let people = [
            stem, stem + "a", stem + "b", stem + "aa", stem + "ab", stem + "aaaaaaaaaaaaaaaaa", "did:web:é",
            "did:web:e\u{301}",
            stem + "é", stem + "e\u{301}",
            "did:x", "did:x\0", "did:x\0\0", "",
        ]
        for (number, did) in people.enumerated() { try register(did, "token\(number)") }
        for round in 0..<2 {
            #expect(try queue(people.map { entry(round, to: $0) }).queued == people.count)
            #expect(try claim().map(\.device.token) == people.indices.map { "token\($0)" })
        }
        // What becomes of one is nothing to the others.
        for (number, did) in people.enumerated().dropFirst(6) {
            _ = try database.writeBlocking { try $0.removeToken(did: did, token: "token\(number)") }
        }
        let writes = try queue(people.map { entry(2, to: $0) })
        #expect(writes.queued == 6 && writes.withoutToken == people.count - 6)
    }

    @Test func forgetsWhatWasRolledBack() throws {
        struct Failure: Error {}
        try register("did:a", "one")
        #expect(throws: Failure.self) {
            try database.writeBlocking { transaction in
                _ = try transaction.register(
                    NewPushToken(did: "did:a", token: "two", platform: "apns", environment: "sandbox"), now: now)
                #expect(try transaction.finish(job: 1, notifications: [entry(1)], now: now).queued == 2)
                throw Failure()
            }
        }
        #expect(try queue([entry(1)]).queued == 1)
        #expect(try claim().map(\.device.token) == ["one"])
    }

    @Test func hearsOfWhatItChangesItself() throws {
        try register("did:a", "one", "two")
        #expect(try queue([entry(1)]).queued == 2)
        let first = try claim()
        try database.writeBlocking { transaction in
            try transaction.correctEnvironment(token: first[0].device.id, from: "sandbox", to: "production")
        }
        #expect(try queue([entry(2)]).queued == 2)
        let second = try claim()
        #expect(second.map(\.device.environment) == ["production", "sandbox"])
        let end = PushSettlement(
            id: second[0].id, tokenID: second[0].device.id, outcome: .removeToken(registeredBefore: now + 1))
        _ = try database.writeBlocking { try $0.settle([end], now: now) }
        #expect(try queue([entry(3)]).queued == 1)
        _ = try database.writeBlocking { try $0.removeToken(did: "did:a", token: "two") }
        #expect(try queue([entry(4)]).withoutToken == 1)
    }
}
