import Dispatch
import HookKit
import Storage
import Synchronization

/// Counts badges at the moment of sending, on threads of its own. Thread-safe.
final class BadgeCounter: Sendable {
    /// How long one count may take.
    static let timeLimit = Duration.seconds(5)
    /// Counts side by side.
    private static let width = 4

    let closures: BadgeClosures
    private let database: Database
    /// What closures are handed.
    private let hookDatabase: (any HookDatabase)?
    private let emit: Emit
    private let executor = BadgeExecutor()

    init(
        database: Database, hookDatabase: (any HookDatabase)?, emit: Emit, closures: BadgeClosures = BadgeClosures()
    ) {
        self.database = database
        self.hookDatabase = hookDatabase
        self.emit = emit
        self.closures = closures
    }

    /// Calls `ready` once with each row, its badge in its payload when it could be counted; on any thread.
    /// Rows that ask for the same are counted once.
    func count(_ rows: [QueuedPush], ready: @escaping @Sendable ([QueuedPush]) -> Void) {
        let groups = Array(Dictionary(grouping: rows) { [$0.message.did, $0.message.badge ?? ""] }.values)
        Task(executorPreference: executor) {
            await withTaskGroup(of: Void.self) { tasks in
                for (index, group) in groups.enumerated() {
                    if index >= Self.width { await tasks.next() }
                    tasks.addTask { ready(await self.counted(group)) }
                }
            }
        }
    }

    private func counted(_ rows: [QueuedPush]) async -> [QueuedPush] {
        guard let message = rows.first?.message, let badge = message.badge else { return rows }
        do {
            let number = try await number(badge, did: message.did)
            guard (0...APNsPayload.maximumBadge).contains(number) else { throw BadgeProblem("\(number) is no badge") }
            return rows.map { row in
                var row = row
                row.message = row.message.with(payload: APNsPayload.adding(badge: number, to: row.message.payload))
                return row
            }
        } catch {
            emit("push", "badge_failed", ["did": message.did, "rows": "\(rows.count)", "error": "\(error)"])
            return rows
        }
    }

    private func number(_ badge: String, did: String) async throws -> Int {
        switch try StoredBadge(badge) {
        case .sql(let sql, let values):
            let parameters = values.map(\.columnValue)
            let rows = try database.read { try $0.query(sql, parameters, limit: Self.timeLimit).rows }
            guard let number = rows.first?.first?.integer else { throw BadgeProblem("the SQL gave no whole number") }
            return Int(number)
        case .closure(let process, let number):
            guard let closure = closures.closure(process: process, number: number), let hookDatabase else {
                throw BadgeProblem("its closure is no longer there")
            }
            return try await timed { try await closure(hookDatabase, did) }
        }
    }

    /// Leaves a closure that takes too long to itself.
    private func timed(_ body: @escaping @Sendable () async throws -> Int) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let race = Race(continuation)
            let work = Task(executorPreference: executor) {
                do { race.end(.success(try await body())) } catch { race.end(.failure(error)) }
            }
            executor.queue.asyncAfter(deadline: .now() + .seconds(Int(Self.timeLimit.components.seconds))) {
                work.cancel()
                race.end(.failure(BadgeProblem("its closure took longer than \(Self.timeLimit)")))
            }
        }
    }
}

/// Resumes with the first of several results.
private final class Race: Sendable {
    private let waiting: Mutex<CheckedContinuation<Int, any Error>?>

    init(_ continuation: CheckedContinuation<Int, any Error>) { waiting = Mutex(continuation) }

    func end(_ result: Result<Int, any Error>) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(with: result)
    }
}

/// Closures and SQL may block: they have threads of their own.
private final class BadgeExecutor: TaskExecutor {
    let queue = DispatchQueue(label: "hark.badges", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

private struct BadgeProblem: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
