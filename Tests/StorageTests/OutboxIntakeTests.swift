import Synchronization
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

@Suite struct OutboxIntakeTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        for token in ["one", "two"] { try database.register("did:a", token, topic: "t", at: now - 1000) }
    }

    private final class Deliveries: Sendable {
        let all = Mutex<[(rows: [QueuedPush], areOthersWaiting: Bool)]>([])
        var rows: [QueuedPush] { all.withLock { $0.flatMap(\.rows) } }
        var toldOfOthers: [Bool] { all.withLock { $0.map(\.areOthersWaiting) } }
    }

    private func intake(room: Int) throws -> (OutboxIntake, Deliveries) {
        let deliveries = Deliveries()
        let intake = OutboxIntake(now: { now }, lease: 100) { rows, areOthersWaiting in
            deliveries.all.withLock { $0.append((rows, areOthersWaiting)) }
        }
        intake.setRoom(room)
        try database.writeBlocking { $0.handOver(to: intake) }
        return (intake, deliveries)
    }

    private func entry(_ number: Int) -> OutboxEntry {
        OutboxEntry(
            did: "did:a", hook: "favorite", uri: "at://x/y/\(number)", rev: "3jzfcijpj2z2a", place: 0,
            payload: Array(#"{"aps":{}}"#.utf8), collapseID: "c", priority: 10, pushType: "alert",
            expiresAt: now + 1000)
    }

    private func queue(_ numbers: Int..., at time: Int64 = now) throws {
        let entries = numbers.map(entry)
        _ = try database.writeBlocking { try $0.finish(job: 1, notifications: entries, now: time) }
    }

    private var states: [String?] { get throws { try database.texts("SELECT state FROM _push_queue ORDER BY id") } }

    @Test func takesRowsAsAClaimWould() throws {
        try queue(1)
        let claimed = try database.writeBlocking {
            try $0.claimPushes(limit: 9, now: now, leaseUntil: now + 100).pushes
        }
        let (_, deliveries) = try intake(room: 9)
        try queue(2)
        let taken = deliveries.rows
        #expect(try states == ["running", "running", "running", "running"])
        #expect(taken.map(\.device.token) == claimed.map(\.device.token))
        #expect(taken.map(\.device.id) == claimed.map(\.device.id))
        #expect(Set((taken + claimed).map(\.key)).count == 4)
        for (a, b) in zip(taken, claimed) {
            #expect(a.device.platform == b.device.platform && a.device.environment == b.device.environment)
            #expect(a.device.topic == b.device.topic && a.device.registeredAt == b.device.registeredAt)
            #expect(a.message.payload == b.message.payload && a.message.collapseID == b.message.collapseID)
            #expect(a.message.priority == b.message.priority && a.message.pushType == b.message.pushType)
            #expect(a.message.did == b.message.did && a.expiresAt == b.expiresAt && a.attempts == b.attempts)
        }
        // A later claim of the same row finds the same id for Apple.
        _ = try database.writeBlocking { try $0.releaseLeases(now: now) }
        let again = try database.writeBlocking { try $0.claimPushes(limit: 9, now: now, leaseUntil: now + 100).pushes }
        #expect(Set(again.map(\.key)) == Set((taken + claimed).map(\.key)))
    }

    @Test func leavesWhatItHasNoRoomFor() throws {
        let (intake, deliveries) = try intake(room: 3)
        try queue(1, 2)
        #expect(try states == ["running", "running", "running", "available"])
        #expect(deliveries.toldOfOthers == [true])
        intake.arrived(3)
        try queue(3)
        #expect(deliveries.rows.count == 5)
        #expect(deliveries.toldOfOthers == [true, false])
    }

    @Test func leavesWhatIsNotDueAndWhatIsThereAlready() throws {
        let (_, deliveries) = try intake(room: 2)
        try queue(1, at: now + 1)
        #expect(try states == ["available", "available"])
        try queue(1)
        #expect(deliveries.rows.isEmpty)
        try queue(2)
        #expect(deliveries.rows.count == 2)
    }

    @Test func getsNothingFromATransactionThatFails() throws {
        struct Failure: Error {}
        let (_, deliveries) = try intake(room: 2)
        let one = entry(1)
        #expect(throws: Failure.self) {
            try database.writeBlocking { transaction in
                _ = try transaction.finish(job: 1, notifications: [one], now: now)
                throw Failure()
            }
        }
        #expect(deliveries.toldOfOthers.allSatisfy { $0 })
        #expect(deliveries.rows.isEmpty)
        #expect(try states == [])
        // Its room is free again.
        try queue(1)
        #expect(deliveries.rows.count == 2)
    }

    /// Rows that are written as running need a lease, or nobody would ever send them, whoever comes after their taker.
    @Test(arguments: [true, false]) func whoComesAfterLeavesRowsToTheirTaker(_ isFollowed: Bool) throws {
        let (old, deliveries) = try intake(room: 2)
        let new = OutboxIntake(now: { now }, lease: 100) { rows, _ in #expect(rows.isEmpty) }
        let (one, two, three) = (entry(1), entry(2), entry(3))
        try database.writeBlocking { transaction in
            _ = try transaction.finish(job: 1, notifications: [one], now: now)
            transaction.handOver(to: isFollowed ? new : nil)
            old.setRoom(9)
            _ = try transaction.finish(job: 2, notifications: [two], now: now)
        }
        #expect(deliveries.rows.map(\.id) == [1, 2])
        #expect(try states == ["running", "running", "available", "available"])
        try database.writeBlocking { _ = try $0.finish(job: 3, notifications: [three], now: now) }
        #expect(deliveries.rows.count == 2)
        #expect(try database.writeBlocking { try $0.releaseLeases(now: now) } == 2)
        #expect(
            try database.writeBlocking { try $0.claimPushes(limit: 9, now: now, leaseUntil: now) }.pushes.count == 6)
    }

    @Test func whoComesAfterTakesRowsThoughTheTransactionFails() throws {
        struct Failure: Error {}
        let (old, deliveries) = try intake(room: 2)
        let taken = Atomic(0)
        let new = OutboxIntake(now: { now }, lease: 100) { rows, _ in taken.add(rows.count, ordering: .relaxed) }
        new.setRoom(9)
        let one = entry(1)
        #expect(throws: Failure.self) {
            try database.writeBlocking { transaction in
                _ = try transaction.finish(job: 1, notifications: [one], now: now)
                transaction.handOver(to: new)
                throw Failure()
            }
        }
        #expect(old.take(9, due: now).count == 2, "its room is free again")
        try queue(1)
        #expect(deliveries.rows.isEmpty && taken.load(ordering: .relaxed) == 2)
    }

    @Test func whatADeadProcessTookIsDueAgain() throws {
        let (_, deliveries) = try intake(room: 2)
        try queue(1)
        #expect(deliveries.rows.count == 2)
        #expect(try database.writeBlocking { try $0.releaseLeases(now: now) } == 2)
        #expect(try states == ["retry", "retry"])
    }

    @Test func keysOfOneTimeAreNeighbours() throws {
        try queue(1, 2, 3)
        let keys = try database.texts("SELECT DISTINCT hex(substr(dedupe_key, 1, 6)) FROM _push_queue")
        #expect(keys.count == 1)
        let whole = try database.texts("SELECT DISTINCT hex(dedupe_key) FROM _push_queue")
        #expect(whole.count == 6)
    }

    @Test(arguments: [([], []), ([5], [5...5]), ([3, 1, 2], [1...3]), ([9, 1, 4, 3, 10], [1...1, 3...4, 9...10])])
    func groupsIDsIntoRuns(_ ids: [Int64], _ runs: [ClosedRange<Int64>]) {
        #expect(Array(IDRuns(ids)) == runs)
    }
}
