import HookKit
import Storage
import Synchronization

/// Runs the hooks of applied ops: those of one repo in order, repos side by side, at most `concurrency` at once.
/// A job's end is committed with the outbox rows that its hooks made; ends are committed in groups.
final class HookDispatcher: Sendable {
    struct Counts: Sendable {
        var runs = 0
        var errors = 0
        var queued = 0
    }

    private struct State {
        /// Jobs of repos that wait, by DID. A repo that is in `ready` or is being run has an entry.
        var waiting: [String: Fifo<HookJob>] = [:]
        /// Repos with a job to run and nobody running them.
        var ready = Fifo<String>()
        var workers = 0
        /// Jobs whose end is not committed.
        var pending = 0
        /// Bytes of the records of jobs that have not run.
        var pendingBytes = 0
        var ended: [(job: Int64, gathered: Gathered)] = []
        var committing = false
        var counts = Counts()
        var failure: (any Error)?
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
        var roomWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let runner: HookRunner
    private let database: Database
    private let concurrency: Int
    private let limit: Int
    private let byteLimit: Int

    /// `limit`, `byteLimit`: how many jobs, and bytes of their records, may be pending before `room` makes its caller
    /// wait.
    init(runner: HookRunner, database: Database, concurrency: Int, limit: Int, byteLimit: Int) {
        self.runner = runner
        self.database = database
        self.concurrency = concurrency
        self.limit = limit
        self.byteLimit = byteLimit
    }

    /// Whether more jobs are welcome.
    var hasRoom: Bool { state.withLock { hasRoom($0) } }

    var counts: Counts { state.withLock { $0.counts } }

    /// What became of each hook's runs, by its name.
    var figures: [String: HookFigures] { runner.meter.snapshot }

    /// Takes jobs in order of arrival. Any thread; never blocks.
    func enqueue(_ jobs: [HookJob]) {
        guard !jobs.isEmpty else { return }
        let starting = state.withLock { state in
            state.pending += jobs.count
            for job in jobs {
                state.pendingBytes += job.recordSize
                if state.waiting[job.did] == nil {
                    state.waiting[job.did] = Fifo()
                    state.ready.append(job.did)
                }
                state.waiting[job.did]?.append(job)
            }
            let starting = min(concurrency - state.workers, state.ready.count)
            state.workers += starting
            return starting
        }
        for _ in 0..<starting { Task { await work() } }
    }

    /// Returns when fewer jobs, and bytes of records, are pending than the limits.
    func room() async throws {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if hasRoom(state) { return true }
                state.roomWaiters.append(continuation)
                return false
            }
            if now { continuation.resume() }
        }
        try throwFailure()
    }

    /// Returns when every job has run and its end is committed.
    func drain() async throws {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if state.pending == 0 || state.failure != nil { return true }
                state.idleWaiters.append(continuation)
                return false
            }
            if now { continuation.resume() }
        }
        try throwFailure()
    }

    private func hasRoom(_ state: borrowing State) -> Bool {
        state.failure != nil || state.pending < limit && state.pendingBytes < byteLimit
    }

    private func throwFailure() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Runs one job of one ready repo after the other, until no repo is ready.
    private func work() async {
        while let job = take() {
            let result = await runner.run(job)
            database.crash?.reach(.afterHookBeforeCommit)
            let commit = state.withLock { state in
                state.counts.runs += result.runs
                state.counts.errors += result.errors
                state.pendingBytes -= job.recordSize
                state.ended.append((job.id, result.gathered))
                if state.waiting[job.did]?.isEmpty == false {
                    state.ready.append(job.did)
                } else {
                    state.waiting[job.did] = nil
                }
                defer { state.committing = true }
                return !state.committing
            }
            if commit { commitEnded() }
        }
    }

    private func take() -> HookJob? {
        state.withLock { state in
            guard let did = state.ready.popFirst(), let job = state.waiting[did]?.popFirst() else {
                state.workers -= 1
                return nil
            }
            return job
        }
    }

    /// Writes the ends that have come in; when that is committed, those that came in meanwhile.
    private func commitEnded() {
        let ended = state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        let now = WallClock.milliseconds()
        database.submit { [crash = database.crash] transaction in
            let writes = try ended.reduce(into: OutboxWrites()) { writes, end in
                writes += try transaction.finish(
                    job: end.job, notifications: end.gathered.entries, notes: end.gathered.notes, now: now)
            }
            crash?.reach(.beforeOutboxCommit)
            return writes
        } committed: { [self] (result: Result<OutboxWrites, any Error>) in
            committed(ended.count, result)
        }
    }

    private func committed(_ count: Int, _ result: Result<OutboxWrites, any Error>) {
        let (more, written, waiters) = state.withLock { state in
            state.pending -= count
            var written = OutboxWrites()
            switch result {
            case .success(let writes):
                written = writes
                state.counts.queued += writes.queued
            case .failure(let error): state.failure = error
            }
            var waiters: [CheckedContinuation<Void, Never>] = []
            if hasRoom(state) { swap(&waiters, &state.roomWaiters) }
            if state.pending == 0 || state.failure != nil {
                waiters += state.idleWaiters
                state.idleWaiters = []
            }
            state.committing = !state.ended.isEmpty
            return (state.committing, written, waiters)
        }
        if written != OutboxWrites() { runner.outbox.committed(written) }
        for waiter in waiters { waiter.resume() }
        if more { commitEnded() }
    }
}

extension HookJob {
    /// Bytes.
    fileprivate var recordSize: Int { record?.count ?? 0 }
}
