import HookKit
import Net
import Storage
import Synchronization

/// Takes rows as they are written, claims those that are due, hands them to their channels, and records how they ended.
///
/// As long as there is room and nothing older is due, new rows come from the transaction that writes them, running
/// already (`OutboxIntake`); all others are claimed. One transaction at a time settles what has ended and claims what
/// there is room for, so that the batches grow with the load. It turns when rows were written, when rows end, when the
/// next one is due, and every `lookInterval` for rows that another process has made due.
///
/// Unchecked: confined to the loop's thread.
final class OutboxWorker: @unchecked Sendable {
    /// Ends that wait for company at most this many milliseconds …
    private static let settleDelay: Int64 = 10
    /// … or until there are so many.
    private static let settleBatch = 512
    /// Rows made due in one transaction.
    private static let hasteStep = 2000
    /// A worker that stops waits for a database that takes no writes only so many times: the leases end at the next start.
    private static let maximumFailuresWhenStopping = 3

    private let database: Database
    private let loop: EventLoop
    private let tuning: PushTuning
    private let clock: any PushClock
    private let emit: Emit
    private let published: Published
    /// A wake-up is on its way to the loop. Any thread.
    let isWakePosted = Atomic(false)
    private let badges: BadgeCounter
    var channels: [any PushChannel] = []

    private enum Phase { case idle, running, stopping }
    private var phase = Phase.idle
    /// Rows claimed whose end is not yet known.
    private var inFlight = 0
    private var ends: [PushEnd] = []
    private var tally = PushCounts()
    /// There may be due rows that nobody has claimed.
    private var mayBeDue = false
    private var isWriting = false
    /// What is being written claims due rows, too; or old leases are not released yet: no new row may be running.
    private var isClaiming = false
    /// The ends have waited long enough.
    private var settlesNow = false
    private var isSettleTimed = false
    private var isTurnPosted = false
    private var writeFailures = 0
    private var nextDue: Int64?
    /// When to look for rows that another process has made due.
    private var lookAt: Int64?
    private var wakeAt: Int64?

    private var waiters = OutboxWaiters()
    private var isTroubled = false
    private var isGiveUpTimed = false
    private var stopped: [@Sendable () -> Void] = []
    private var intake: OutboxIntake?

    init(
        database: Database, loop: EventLoop, tuning: PushTuning, clock: any PushClock, emit: Emit,
        published: Published, badges: BadgeCounter
    ) {
        self.database = database
        self.loop = loop
        self.tuning = tuning
        self.clock = clock
        self.emit = emit
        self.published = published
        self.badges = badges
    }

    func start() {
        guard phase == .idle else { return }
        phase = .running
        isWriting = true
        isClaiming = true
        let now = clock.now
        let intake = OutboxIntake(
            now: { [clock] in clock.now }, lease: tuning.lease.wholeMilliseconds
        ) { [self] rows, areOthersWaiting in
            loop.execute { [self] in took(rows, areOthersWaiting) }
        }
        self.intake = intake
        database.submit { transaction in
            transaction.handOver(to: intake)
            return try transaction.releaseLeases(now: now)
        } committed: { [self] result in
            loop.execute { [self] in started(result) }
        }
    }

    /// New rows come no more: whoever writes them, and the intake, hold on to the worker until then. For any thread, once the
    /// loop has ended.
    func letGo() {
        intake = nil
        database.submit {
            $0.handOver(to: nil)
        } committed: { _ in
        }
    }

    private func started(_ result: Result<Int, any Error>) {
        isWriting = false
        switch result {
        case .success:
            isClaiming = false
            mayBeDue = true
            turn()
        case .failure(let error):
            storageFailed(error) { [self] in
                guard phase == .running else { return turn() }
                phase = .idle
                start()
            }
        }
    }

    func wake() {
        mayBeDue = true
        turn()
    }

    /// A key is mended: what a stopped one kept waiting is due at once.
    func keyReplaced() {
        let now = clock.now
        for index in ends.indices {
            guard case .retry(_, let counted) = ends[index].settlement.outcome,
                ends[index].settlement.error?.hasPrefix(ProviderKey.stoppedReason) == true
            else { continue }
            ends[index].settlement.outcome = .retry(at: now, counted: counted)
        }
        heard()
        hasten(now)
    }

    private func hasten(_ now: Int64) {
        database.submit {
            try $0.hastenPushes(whoseErrorBegins: ProviderKey.stoppedReason, now: now, limit: Self.hasteStep)
        } committed: { [self] result in
            loop.execute { [self] in
                switch result {
                case .success(let count):
                    if count == Self.hasteStep { hasten(now) }
                case .failure(let error): emit("push", "storage_failed", ["error": "\(error)"])
                }
                wake()
            }
        }
    }

    /// Calls `resume` once: with true when no row waits, with false when it gave up.
    func drain(giveUpAfter: Int64, _ resume: @escaping @Sendable (Bool) -> Void) {
        if phase == .stopping { return resume(false) }
        waiters.add(giveUpAfter: giveUpAfter, now: clock.now, resume)
        mayBeDue = true
        turn()
        watchWaiters()
    }

    func stop(deadline: Duration, _ done: @escaping @Sendable () -> Void) {
        stopped.append(done)
        if phase != .stopping {
            phase = .stopping
            waiters.takeAll().forEach { $0(false) }
            channels.forEach { $0.close(deadline: deadline) }
        }
        turn()
    }
}

// MARK: The turn

extension OutboxWorker {
    /// One turn after the present job, however many things ask for it.
    private func turnSoon() {
        guard !isTurnPosted else { return }
        isTurnPosted = true
        loop.execute { [self] in
            isTurnPosted = false
            turn()
        }
    }

    private func turn() {
        guard phase != .idle else { return }
        openIntake()
        guard !isWriting else { return }
        let limit = claimLimit
        if limit == 0, inFlight == channels.heldCount, inFlight > 0, phase == .running, !isTroubled {
            channels.forEach { $0.settleHeld() }
        }
        if limit > 0 || mustSettle { return write(claiming: limit) }
        if !ends.isEmpty { timeSettling() }
        timeClaiming()
        if !waiters.isEmpty { watchWaiters() }
        if inFlight == 0, ends.isEmpty { rest() }
    }

    /// New rows wait their turn while older ones are due, or while nothing can be sent.
    private func openIntake() {
        let isOpen = phase == .running && !mayBeDue && !isClaiming && !isBlocked
        intake?.setRoom(isOpen ? max(tuning.maximumInFlight - inFlight, 0) : 0)
    }

    /// Rows that were written as running.
    private func took(_ rows: [QueuedPush], _ areOthersWaiting: Bool) {
        inFlight += rows.count
        intake?.arrived(rows.count)
        if !rows.isEmpty { database.crash?.reach(.afterHandoverBeforeSend) }
        if areOthersWaiting { mayBeDue = true }
        hand(rows)
        turn()
    }

    private var mustSettle: Bool {
        !ends.isEmpty && (ends.count >= Self.settleBatch || settlesNow || inFlight <= channels.heldCount)
    }

    /// No channel can send anything now.
    private var isBlocked: Bool { channels.closedUntil != nil }

    /// Claims come in batches: not before a quarter of the room is free.
    private var claimLimit: Int {
        let free = tuning.maximumInFlight - inFlight
        guard phase == .running, mayBeDue, free > 0, free >= tuning.maximumInFlight / 4, !isBlocked else { return 0 }
        return min(free, tuning.claimBatch)
    }

    private func write(claiming limit: Int) {
        isWriting = true
        settlesNow = false
        isClaiming = limit > 0
        if limit > 0 { mayBeDue = false }
        let batch = ends
        ends = []
        let step = OutboxStep(
            ends: batch, claims: limit, now: clock.now, lease: tuning.lease.wholeMilliseconds,
            keepsLeases: inFlight > 0)
        database.submit { [crash = database.crash] in
            try step.run(in: $0, crash)
        } committed: { [self] result in
            loop.execute { [self] in wrote(batch, claiming: limit, result) }
        }
    }

    private func wrote(_ batch: [PushEnd], claiming limit: Int, _ result: Result<OutboxStep.Outcome, any Error>) {
        isWriting = false
        isClaiming = false
        switch result {
        case .failure(let error):
            ends = batch + ends
            if limit > 0 { mayBeDue = true }
            if phase == .stopping, writeFailures >= Self.maximumFailuresWhenStopping { ends = [] }
            storageFailed(error) { [self] in
                settlesNow = true
                turn()
            }
        case .success(let written):
            writeFailures = 0
            if !batch.isEmpty { database.crash?.reach(.afterOutcomeCommit) }
            published.count(batch, written.settled, written.claimed)
            for end in batch {
                guard case .retry(let time, _) = end.settlement.outcome else { continue }
                tally.retried += 1
                nextDue = min(nextDue ?? .max, time)
            }
            tally.add(written.settled)
            tally.failed += written.claimed.expired
            tally.dropped += written.claimed.orphaned
            published.counts = tally
            if limit > 0 {
                // Of all rows, those of this batch included.
                if written.isAll { nextDue = written.nextDue } else { mayBeDue = true }
                lookAt = tuning.lookInterval.map { clock.now + $0.wholeMilliseconds }
                let rows = written.claimed.pushes
                inFlight += rows.count
                if !rows.isEmpty { database.crash?.reach(.afterClaimBeforeSend) }
                hand(rows)
            }
            turn()
        }
    }

    /// The rows stay as they are in the database, and their ends in memory, until it takes writes again.
    private func storageFailed(_ error: any Error, then again: @escaping @Sendable () -> Void) {
        writeFailures += 1
        emit("push", "storage_failed", ["error": "\(error)", "failures": "\(writeFailures)"])
        isTroubled = true
        isWriting = true
        clock.schedule(on: loop, after: tuning.backoff.delay(attempts: writeFailures)) { [self] in
            isWriting = false
            again()
        }
        watchWaiters()
    }

    private func hand(_ rows: [QueuedPush]) {
        var uncounted: [QueuedPush] = []
        let now = clock.now
        for row in rows { if row.message.badge == nil { hand(row, now) } else { uncounted.append(row) } }
        channels.forEach { $0.flush() }
        guard !uncounted.isEmpty else { return }
        badges.count(uncounted) { [self] rows in
            loop.execute { [self] in
                let now = clock.now
                for row in rows { hand(row, now) }
                channels.forEach { $0.flush() }
            }
        }
    }

    private func hand(_ row: QueuedPush, _ now: Int64) {
        guard row.expiresAt > now else { return finished(PushEnd(row, .expired, error: "expired")) }
        guard let channel = channels.first(where: { $0.platform == row.device.platform }) else {
            return finished(PushEnd(row, .dead, error: "no channel for platform \(row.device.platform)"))
        }
        if row.message.badge != nil, APNsPayload.isEmpty(row.message.payload) {
            return finished(PushEnd(row, .dead, error: "badge not counted"))
        }
        channel.send(row)
    }
}

// MARK: What channels report

extension OutboxWorker: PushChannelOwner {
    func finished(_ end: PushEnd) {
        inFlight -= 1
        ends.append(end)
        turnSoon()
    }

    func heldBack() { turnSoon() }

    func heard() {
        if !waiters.isEmpty { waiters.heard(now: clock.now) }
        isTroubled = false
    }

    func troubled() {
        isTroubled = true
        watchWaiters()
        turnSoon()
    }
}

// MARK: Waiting

extension OutboxWorker {
    private func timeSettling() {
        guard !isSettleTimed else { return }
        isSettleTimed = true
        clock.schedule(on: loop, after: Self.settleDelay) { [self] in
            isSettleTimed = false
            settlesNow = true
            turn()
        }
    }

    /// Waits for the next due row, or for a channel to open.
    private func timeClaiming() {
        guard phase == .running else { return }
        if !mayBeDue {
            let time = min(nextDue ?? .max, lookAt ?? .max)
            if time < .max { wake(at: time) }
        } else if let time = channels.closedUntil, time < .max {
            wake(at: time)
        }
    }

    /// Nothing is in memory: tells those who wait for that, or for the last row.
    private func rest() {
        if phase == .stopping {
            let done = stopped
            stopped = []
            return done.forEach { $0() }
        }
        guard !mayBeDue, nextDue == nil else { return }
        waiters.takeAll().forEach { $0(true) }
    }

    private func wake(at time: Int64) {
        // A wake-up that comes too early looks again and sets the next.
        if let wakeAt, wakeAt <= time { return }
        wakeAt = time
        clock.schedule(on: loop, after: max(time - clock.now, 1)) { [self] in
            guard wakeAt == time else { return }
            wakeAt = nil
            if min(nextDue ?? .max, lookAt ?? .max) <= clock.now { mayBeDue = true }
            turn()
        }
    }

    /// Rows wait for something other than their own time.
    private var isHopeless: Bool { isTroubled || channels.contains(where: \.keepsRowsBack) }

    /// What has ended is in the database, as far as that takes it.
    private var isRecorded: Bool { writeFailures > 0 || ends.isEmpty && !isWriting }

    /// Gives up for those who have seen nothing but trouble for as long as they care to wait.
    private func watchWaiters() {
        guard isHopeless, !isGiveUpTimed, let end = waiters.nextEnd else { return }
        isGiveUpTimed = true
        clock.schedule(on: loop, after: max(end - clock.now, 1)) { [self] in
            isGiveUpTimed = false
            if isHopeless, isRecorded { waiters.takeTired(now: clock.now).forEach { $0(false) } }
            watchWaiters()
        }
    }
}

extension PushCounts {
    fileprivate mutating func add(_ settled: SettledPushes) {
        sent += settled.sent
        removed += settled.tokensRemoved
        dropped += settled.dropped
        failed += settled.failed
    }
}
