import ATProto
import FoundationEssentials
import HookKit
import Push
import Storage

/// Sends one notification by hand and watches it reach a person's devices: for "did it reach my phone".
///
/// It is queued as `push.send` queues. Where a Hark runs on the database, that one delivers it; otherwise this process
/// does, and with it whatever else is due.
public struct DirectPush: Sendable {
    private let configuration: PushConfiguration
    private let database: Database
    private let emit: Emit

    /// How often rows are looked at, and after how long this process offers again to deliver.
    private static let glance: Duration = .milliseconds(50)
    private static let watch: Duration = .seconds(5)
    private static let stopDeadline: Duration = .seconds(1)

    /// - Parameter log: gets whatever is emitted, as JSON, a line a call with its newline; called on any thread.
    /// - Throws: `OperatorError` when push is off or the database cannot be one.
    public init(_ configuration: Configuration, log: @escaping @Sendable (String) -> Void) throws {
        guard let push = configuration.push else {
            throw OperatorError("push is off: the configuration has no push section")
        }
        self.configuration = push
        emit = Emit.jsonLines(log)
        database = try Database.open(configuration.database, as: .guest)
    }

    public func close() { database.close() }

    /// Queues the message and waits until each device's push has its outcome, or `patience` has passed.
    ///
    /// - Throws: `OperatorError` for a message that cannot be sent; `RunError`; `CancellationError`, after which what is
    ///   queued stays so.
    public func send(_ message: DirectMessage, patience: Duration) async throws -> DirectPushReport {
        var report = try await queue(message)
        let deadline = ContinuousClock.now + patience
        while !report.isSettled, ContinuousClock.now < deadline {
            if let runner = try Database.openUnlessRun(database.path) {
                try await deliver(with: runner, until: deadline, &report)
                // Nobody else will.
                break
            }
            try await follow(until: min(deadline, .now + Self.watch), &report)
        }
        return report
    }

    private func queue(_ message: DirectMessage) async throws -> DirectPushReport {
        let now = Int64(Date.now.timeIntervalSince1970 * 1000)
        let clockID = UInt16.random(in: 0..<1024)
        let id = TID(microseconds: now * 1000 + .random(in: 0..<1000), clockID: clockID).description
        let origin = SendOrigin(hook: "hark push send", uri: "hark:push/\(id)", rev: id, place: 0)
        let notification = try message.notification()
        let entry: OutboxEntry
        do {
            entry = try PushService.entry(of: notification, origin: origin, tuning: configuration.tuning)
        } catch {
            throw OperatorError("such a push cannot be sent: \(error)")
        }
        let (rows, notes) = try await database.write { try $0.queue(entry, now: now) }
        return DirectPushReport(did: message.did, rows: rows, notes: notes)
    }

    private func deliver(
        with runner: Database, until deadline: ContinuousClock.Instant, _ report: inout DirectPushReport
    ) async throws {
        defer { runner.close() }
        let service: PushService
        do {
            service = try PushService(
                database: runner, apns: configuration.apns, emit: emit, tuning: configuration.tuning)
        } catch {
            throw OperatorError("push.apns cannot be used: \(error)")
        }
        service.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await follow(until: deadline, &report))
        } catch { result = .failure(error) }
        // A task of its own, since this one may be cancelled.
        await Task { await service.stop(deadline: Self.stopDeadline) }.value
        try refresh(&report)
        try result.get()
    }

    private func follow(until deadline: ContinuousClock.Instant, _ report: inout DirectPushReport) async throws {
        while true {
            try refresh(&report)
            guard !report.isSettled, ContinuousClock.now < deadline else { return }
            try await Task.sleep(for: Self.glance)
        }
    }

    private func refresh(_ report: inout DirectPushReport) throws {
        let ids = report.rows.filter { !$0.hasEnded }.map(\.id)
        report.update(try database.read { connection in try ids.compactMap { try connection.outboxRow(id: $0) } })
    }
}
