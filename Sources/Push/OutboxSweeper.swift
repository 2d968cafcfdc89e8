import HookKit
import Net
import Storage

/// Deletes what ended longer ago than the retention, in small steps between which others write.
///
/// Unchecked: confined to the loop's thread.
final class OutboxSweeper: @unchecked Sendable {
    /// Rows looked at in one transaction.
    private static let step = 500
    /// Milliseconds between two steps …
    private static let pause: Int64 = 50
    /// … and between two sweeps.
    private static let interval: Int64 = 600_000

    private let database: Database
    private let loop: EventLoop
    private let clock: any PushClock
    private let retention: Int64
    private let emit: Emit
    private var isStopped = false

    init(database: Database, loop: EventLoop, clock: any PushClock, retention: Duration, emit: Emit) {
        self.database = database
        self.loop = loop
        self.clock = clock
        self.retention = retention.wholeMilliseconds
        self.emit = emit
    }

    func start() { take(OutboxSweep()) }

    func stop() { isStopped = true }

    private func take(_ sweep: OutboxSweep) {
        guard !isStopped else { return }
        let time = clock.now - retention
        database.submit { [crash = database.crash] transaction in
            let sweep = try transaction.sweep(sweep, before: time, limit: Self.step)
            if sweep.removed > 0 { crash?.reach(.beforeSweepCommit) }
            return sweep
        } committed: { [self] result in
            loop.execute { [self] in took(result) }
        }
    }

    private func took(_ result: Result<OutboxSweep, any Error>) {
        if case .success(let sweep) = result, sweep.removed > 0 { database.crash?.reach(.afterSweepCommit) }
        switch result {
        case .success(let sweep) where !sweep.isDone:
            clock.schedule(on: loop, after: Self.pause) { [self] in take(sweep) }
        case .success(let sweep):
            if sweep.removed > 0 { emit("push", "swept", ["removed": "\(sweep.removed)"]) }
            scheduleNext()
        case .failure(let error):
            if !isStopped { emit("push", "sweep_failed", ["error": "\(error)"]) }
            scheduleNext()
        }
    }

    private func scheduleNext() {
        clock.schedule(on: loop, after: Self.interval) { [self] in take(OutboxSweep()) }
    }
}
