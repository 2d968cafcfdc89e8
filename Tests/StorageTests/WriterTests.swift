@testable import ATProto
import Synchronization
import Testing

@testable import Storage

private struct Stop: Error {}

@Suite struct WriterTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        try database.writeBlocking { _ = try $0.run("CREATE TABLE notes (text UNIQUE)", []) }
    }

    private var notes: [String?] { get throws { try database.texts("SELECT text FROM notes ORDER BY text") } }

    private static func add(_ text: String) -> @Sendable (Transaction) throws -> Void {
        { _ = try $0.run("INSERT INTO notes VALUES ($1)", [.text(text)]) }
    }

    /// Submits all bodies while the writer is busy, so that they share a transaction; returns who failed.
    private func together(_ bodies: [@Sendable (Transaction) throws -> Void]) async -> [Bool] {
        let gate = Gate()
        database.submit { _ in
            gate.wait()
        } committed: { _ in
        }
        return await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, body) in bodies.enumerated() {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        database.submit(body) { result in
                            if case .failure = result {
                                continuation.resume(returning: (index, true))
                            } else {
                                continuation.resume(returning: (index, false))
                            }
                        }
                        gate.arrived(of: bodies.count)
                    }
                }
            }
            var failed = [Bool](repeating: false, count: bodies.count)
            for await (index, hasFailed) in group { failed[index] = hasFailed }
            return failed
        }
    }

    @Test func aFailingBodyDisturbsNoOther() async throws {
        let failed = await together([
            Self.add("a"),
            {
                try Self.add("b")($0); throw Stop()
            }, Self.add("c"), Self.add("d"),
        ])
        #expect(failed == [false, true, false, false])
        #expect(try notes == ["a", "c", "d"])
    }

    @Test func aBodyThatEndsTheTransactionDisturbsNoOther() async throws {
        try database.writeBlocking(Self.add("taken"))
        let failed = await together([
            Self.add("a"), { _ = try $0.run("INSERT OR ROLLBACK INTO notes VALUES ('taken')", []) }, Self.add("c"),
        ])
        #expect(failed == [false, true, false])
        #expect(try notes == ["a", "c", "taken"])
    }

    @Test func aBodyThatGoesOnAfterTheEndFails() async throws {
        try database.writeBlocking(Self.add("taken"))
        let failed = await together([
            Self.add("a"),
            { transaction in
                _ = try? transaction.run("INSERT OR ROLLBACK INTO notes VALUES ('taken')", [])
                try Self.add("outside")(transaction)
            },
            Self.add("b"),
        ])
        #expect(failed == [false, true, false])
        #expect(try notes == ["a", "b", "taken"])
    }

    @Test func aStoppedStatementDisturbsNoOther() async throws {
        let failed = await together([
            Self.add("a"),
            { transaction in
                _ = try transaction.run(
                    "INSERT INTO notes WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
                    [], limit: .milliseconds(20))
            },
            Self.add("c"),
        ])
        #expect(failed == [false, true, false])
        #expect(try notes == ["a", "c"])
    }

    @Test func whatFitsOnAFullDiskIsKept() async throws {
        try database.writeBlocking { transaction in
            try Self.add("start")(transaction)
            let pages = try transaction.connection.prepare("PRAGMA page_count").first { $0.integer(0) } ?? 0
            try transaction.connection.execute("PRAGMA max_page_count = \(pages + 4)")
        }
        let large = String(repeating: "x", count: 100_000)
        let failed = await together([Self.add("a"), Self.add(large), Self.add("b"), Self.add(large + "y")])
        #expect(failed == [false, true, false, true])
        #expect(try notes == ["a", "b", "start"])
        let error = await #expect(throws: StorageError.self) { try await database.write(Self.add(large)) }
        #expect(error?.message == "the disk is full")
    }

    @Test func committedMeansVisible() async throws {
        for number in 0..<50 {
            try await database.write(Self.add("\(number)"))
            #expect(try notes.count == number + 1)
        }
    }

    @Test func readersSeeWholeTransactionsDuringWrites() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<200 {
                    try await database.write { transaction in
                        try Self.add("\(number)x")(transaction)
                        try Self.add("\(number)y")(transaction)
                    }
                }
            }
            for _ in 0..<6 {
                group.addTask {
                    for _ in 0..<100 {
                        let count = try database.number("SELECT count(*) FROM notes") ?? -1
                        #expect(count % 2 == 0)
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try notes.count == 400)
    }

    @Test func resultsAreReportedInOrder() throws {
        let order = Mutex<[Int]>([])
        for number in 0..<2000 {
            database.submit { _ in
                number
            } committed: { result in
                if case .success(let number) = result { order.withLock { $0.append(number) } }
            }
        }
        try database.writeBlocking { _ in }
        #expect(order.withLock { $0 } == Array(0..<2000))
    }

    @Test func waitingForItselfIsRefused() throws {
        let refused = Mutex(false)
        try database.writeBlocking { [database] _ in
            do { try database.writeBlocking { _ in } } catch { refused.withLock { $0 = true } }
        }
        #expect(refused.withLock { $0 })
    }

    @Test func closingCommitsWhatWasSubmitted() throws {
        for number in 0..<100 { database.submit(Self.add("\(number)")) { _ in } }
        database.close()
        #expect(throws: StorageError.self) { try database.writeBlocking { _ in } }
        #expect(throws: StorageError.self) { try database.read { _ in } }
        database.close()
        #expect(try scratch.open().number("SELECT count(*) FROM notes") == 100)
    }
}

/// Holds the writer until others have submitted.
private final class Gate: Sendable {
    private let count = Mutex(0)
    private let semaphore = Semaphore()

    /// It stays open: the body that waits here runs once more when a neighbour takes its transaction along.
    func wait() {
        semaphore.wait()
        semaphore.signal()
    }

    func arrived(of all: Int) {
        let isLast = count.withLock { count in
            count += 1
            return count == all
        }
        if isLast { semaphore.signal() }
    }
}
