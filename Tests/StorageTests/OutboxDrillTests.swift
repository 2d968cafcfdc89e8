import ATProto
import Synchronization
import Testing

@testable import Storage

/// Everything that senders, hooks and operators do with the outbox, drawn at random: several at once in a transaction, some
/// of them failing, from two connections.
@Suite struct OutboxDrillTests {
    @Test(arguments: 0..<24) func keepsItsBooks(_ seed: Int) throws {
        let drill = try OutboxDrill(seed: UInt64(seed))
        for step in 0..<150 {
            try drill.step()
            try drill.check("step \(step)")
        }
        try drill.finish()
        try drill.check("the end")
    }
}

private struct Failure: Error {}

/// What senders were handed.
private final class Deliveries: Sendable {
    private let rows = Mutex<[QueuedPush]>([])

    func add(_ new: [QueuedPush]) { rows.withLock { $0 += new } }

    func take() -> [QueuedPush] {
        rows.withLock { rows in
            defer { rows = [] }
            return rows
        }
    }
}

/// Confined to its test.
private final class OutboxDrill {
    typealias Body = @Sendable (Transaction) throws -> [QueuedPush]

    private let scratch: Scratch
    /// The sender's, and an operator's.
    private let database: Database
    private let other: Database
    private var random: SplitMix
    private var now: Int64 = 1_700_000_000_000
    /// Rows that some sender has had, whether it still holds them or not: id and token.
    private var taken: [(id: Int64, token: Int64)] = []
    private let delivered = Deliveries()
    /// Dedupe keys of rows that were sent.
    private var sent: Set<String> = []
    /// Rows that were swept.
    private var gone = (sent: Int64(0), failed: Int64(0))

    init(seed: UInt64) throws {
        scratch = try Scratch()
        database = try scratch.open()
        other = try scratch.open()
        random = SplitMix(state: seed)
        let start = now
        try database.writeBlocking { for number in 0..<6 { try Self.register(number, in: $0, at: start) } }
    }

    deinit {
        database.close()
        other.close()
    }

    private static func register(_ number: Int, in transaction: Transaction, at time: Int64) throws {
        _ = try transaction.register(
            NewPushToken(did: "did:\(number % 3)", token: "t\(number)", platform: "apns", environment: "sandbox"),
            now: time)
    }

    private func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    // MARK: What is done

    func step() throws {
        now += Int64(draw(0...30))
        if draw(0...3) == 0 { return try sweep() }
        let bodies = (0...draw(0...3)).map { _ in draw(0...4) > 0 ? body() : failing(body()) }
        run(bodies, on: draw(0...3) == 0 ? other : database)
        taken += delivered.take().map { ($0.id, $0.device.id) }
    }

    /// In one transaction, as far as none fails.
    private func run(_ bodies: [Body], on database: Database) {
        let (gate, done) = (Semaphore(), Semaphore())
        database.submit { _ in
            gate.wait()
        } committed: { _ in
        }
        for body in bodies {
            database.submit(body) { [delivered] result in
                if case .success(let rows) = result { delivered.add(rows) }
                done.signal()
            }
        }
        gate.signal()
        for _ in bodies { done.wait() }
    }

    private func body() -> Body {
        let now = now
        switch draw(0...11) {
        case 0...3: return queue()
        case 4, 5:
            let limit = draw(1...12)
            return { try $0.claimPushes(limit: limit, now: now, leaseUntil: now + 100).pushes }
        case 6, 7: return settle()
        case 8:
            let rooms = draw(0...2) == 0 ? nil : draw(0...20)
            return { [delivered] transaction in
                let intake = OutboxIntake(now: { now }, lease: 100) { rows, _ in delivered.add(rows) }
                intake.setRoom(rooms ?? 0)
                transaction.handOver(to: rooms == nil ? nil : intake)
                return []
            }
        case 9:
            let isStart = draw(0...3) == 0
            return { transaction in
                if isStart {
                    try transaction.releaseLeases(now: now)
                } else {
                    try transaction.renewLeases(endingBy: now + 50, until: now + 100)
                }
                return []
            }
        case 10:
            let (id, limit) = (Int64(draw(1...60)), draw(1...3))
            return { transaction in
                _ = try transaction.retryPush(id, now: now, lifetime: 500)
                _ = try transaction.dropPush(id + 1, now: now)
                if id < 5 { _ = try transaction.dropDeadPushes(limit: limit) }
                return []
            }
        default:
            let (number, isNew) = (draw(0...5), draw(0...2) > 0)
            return { transaction in
                if isNew {
                    try Self.register(number, in: transaction, at: now)
                } else {
                    _ = try transaction.removeToken(did: "did:\(number % 3)", token: "t\(number)")
                }
                return []
            }
        }
    }

    private func failing(_ body: @escaping Body) -> Body {
        { transaction in
            _ = try body(transaction)
            throw Failure()
        }
    }

    private func queue() -> Body {
        let now = now
        let entries = (0...draw(0...5)).map { _ in
            OutboxEntry(
                did: "did:\(draw(0...3))", hook: "hook", uri: "at://x/y.z/\(draw(0...400))", rev: "r", place: 0,
                payload: Array("{}".utf8), collapseID: nil, priority: 10, pushType: "alert",
                expiresAt: now + Int64(draw(20...600)))
        }
        return {
            _ = try $0.finish(job: 1, notifications: entries, now: now)
            return []
        }
    }

    private func settle() -> Body {
        let now = now
        let ends = (0...draw(0...9)).compactMap { _ -> PushSettlement? in
            // The latest mostly, and any that was ever taken.
            let range = draw(0...4) == 0 ? taken.indices : taken.indices.suffix(20)
            guard let (id, token) = range.randomElement(using: &random).map({ taken[$0] }) else { return nil }
            let outcomes: [PushSettlement.Outcome] = [
                .sent, .sent, .sent, .sent, .dead, .expired, .retry(at: now + Int64(draw(0...60)), counted: true),
                .removeToken(registeredBefore: now - Int64(draw(0...500))),
            ]
            return PushSettlement(id: id, tokenID: token, outcome: outcomes[draw(0...7)], error: "word")
        }
        return {
            try $0.settle(ends, now: now)
            return []
        }
    }

    private func sweep() throws {
        let (limit, time) = (draw(1...9), now - Int64(draw(0...200)))
        let (sentBefore, failedBefore) = try (count("= 'sent'"), count(Self.failed))
        _ = try database.writeBlocking { try $0.sweep(OutboxSweep(), before: time, limit: limit) }
        try gone.sent += sentBefore - count("= 'sent'")
        try gone.failed += failedBefore - count(Self.failed)
    }

    /// Whatever waits or is being sent is sent: nothing is out of everybody's reach.
    func finish() throws {
        let late = now + 10_000
        now = late
        try database.writeBlocking { transaction in
            transaction.handOver(to: nil)
            try transaction.releaseLeases(now: late)
            let pushes = try transaction.claimPushes(limit: 9999, now: late, leaseUntil: late).pushes
            try transaction.settle(
                pushes.map { PushSettlement(id: $0.id, tokenID: $0.device.id, outcome: .sent) }, now: late)
        }
        #expect(try count("IN ('available', 'running', 'retry')") == 0)
    }

    // MARK: What must hold

    private static let failed = "IN ('dead', 'expired', 'removed', 'dropped')"

    private func count(_ condition: String) throws -> Int64 {
        try database.number("SELECT count(*) FROM _push_queue WHERE state \(condition)") ?? 0
    }

    private func ids(_ table: String) throws -> [Int64] {
        try database.rows("SELECT first, last FROM \(table) ORDER BY last").flatMap { row in
            try Array(#require(row[0].integer)...#require(row[1].integer))
        }
    }

    func check(_ place: String) throws {
        let (waiting, leased, ended) = try (ids("_push_waiting"), ids("_push_leases"), ids("_push_sent"))
        let running = try database.rows("SELECT id FROM _push_rows WHERE state = 'running' ORDER BY id")
        #expect((waiting + leased + ended).sorted() == running.compactMap { $0[0].integer }, "\(place)")
        #expect(try count("= 'available'") == Int64(waiting.count), "\(place)")
        #expect(try count("= 'sent'") == Int64(ended.count) && count("= 'running'") == Int64(leased.count), "\(place)")
        #expect(
            try database.number(
                "SELECT count(*) FROM _push_rows WHERE (next_attempt_at IS NOT NULL) <> (state = 'retry')") == 0,
            "\(place)")
        #expect(
            try database.number(
                """
                SELECT count(*) FROM _push_queue
                WHERE (next_attempt_at IS NOT NULL) <> (state IN ('available', 'retry'))
                """) == 0, "\(place)")
        let counts = try database.read { try $0.outboxCounts() }
        #expect(counts.running == leased.count, "\(place)")
        #expect(try Int64(counts.waiting) == count("IN ('available', 'retry')"), "\(place)")
        #expect(try Int64(counts.sent) == count("= 'sent'") + gone.sent, "\(place)")
        #expect(try Int64(counts.failed) == count(Self.failed) + gone.failed, "\(place)")
        // What was sent stays so until it is swept.
        let states = try database.rows("SELECT hex(dedupe_key), state FROM _push_queue").map {
            try (#require($0[0].string), #require($0[1].string))
        }
        for (key, state) in states where sent.contains(key) { #expect(state == "sent", "\(place)") }
        sent = Set(states.filter { $0.1 == "sent" }.map(\.0))
    }
}
