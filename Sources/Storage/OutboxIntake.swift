import Synchronization

/// Takes outbox rows straight from the transaction that writes them: they are written as running already, and need no
/// claim. Rows for which there is no room are written as available.
///
/// A transaction that fails hands over nothing; a process that dies leaves the rows to the end of their lease, like any
/// other running row. Its room is set by who sends; the transaction takes of it. Thread-safe.
public final class OutboxIntake: Sendable {
    /// How many rows may be taken and not yet delivered.
    private let limit = Atomic(0)
    private let taken = Atomic(0)
    private let now: @Sendable () -> Int64
    private let lease: Int64
    private let deliver: @Sendable (_ rows: [QueuedPush], _ areOthersWaiting: Bool) -> Void

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - lease: how long a row is its taker's, in milliseconds.
    ///   - deliver: called on the writer's thread after the commit, with the rows that were taken and whether others were
    ///     written that wait to be claimed. Must not block.
    public init(
        now: @escaping @Sendable () -> Int64, lease: Int64,
        deliver: @escaping @Sendable (_ rows: [QueuedPush], _ areOthersWaiting: Bool) -> Void
    ) {
        self.now = now
        self.lease = lease
        self.deliver = deliver
    }

    /// How many rows may be on their way from here on; 0 while older ones wait to be claimed.
    public func setRoom(_ room: Int) { limit.store(room, ordering: .relaxed) }

    /// So many rows have arrived: they count no more here.
    public func arrived(_ count: Int) { taken.subtract(count, ordering: .relaxed) }

    /// How many of `count` rows that are due at `due` it takes, and until when they are its own.
    func take(_ count: Int, due: Int64) -> (count: Int, until: Int64) {
        let now = now()
        let free = limit.load(ordering: .relaxed) - taken.load(ordering: .relaxed)
        guard due <= now, free > 0 else { return (0, 0) }
        let taking = min(count, free)
        taken.add(taking, ordering: .relaxed)
        return (taking, now + lease)
    }

    func giveBack(_ count: Int) { taken.subtract(count, ordering: .relaxed) }

    func hand(_ rows: [QueuedPush], areOthersWaiting: Bool) { deliver(rows, areOthersWaiting) }
}

/// What a transaction has for the intake once it is committed. Confined to the writer's thread.
struct OutboxHandover {
    /// Who takes new rows from here on.
    var taker: OutboxIntake? { successor == nil ? intake : nil }
    private var intake: OutboxIntake?
    /// Takes over from `intake` once the rows are its own for good, or are gone.
    private var successor: OutboxIntake??
    private(set) var rows: [QueuedPush] = []
    /// When the rows' lease ends.
    private(set) var until: Int64 = 0
    private var areOthersWaiting = false

    var isEmpty: Bool { rows.isEmpty && !areOthersWaiting }

    /// How many rows there are so far.
    var mark: Int { rows.count }

    /// The rows that are here already stay their taker's: written as running, they need the lease that is theirs.
    mutating func change(to intake: OutboxIntake?) {
        successor = .some(intake)
        if rows.isEmpty { change() }
    }

    private mutating func change() {
        guard let successor else { return }
        intake = successor
        self.successor = nil
    }

    /// So many rows are about to come.
    mutating func expect(_ count: Int) {
        if rows.isEmpty { rows.reserveCapacity(count) }
    }

    mutating func add(_ row: QueuedPush, until time: Int64) {
        rows.append(row)
        until = max(until, time)
    }

    mutating func addWaiting() { areOthersWaiting = true }

    /// Drops the rows after `mark`: they were rolled back.
    mutating func forget(from mark: Int) {
        guard mark < rows.count else { return }
        intake?.giveBack(rows.count - mark)
        rows.removeSubrange(mark...)
        if rows.isEmpty { change() }
    }

    mutating func committed() {
        guard !isEmpty else { return }
        intake?.hand(rows, areOthersWaiting: areOthersWaiting)
        rows = []
        until = 0
        areOthersWaiting = false
        change()
    }
}

extension Transaction {
    /// From now on new rows go to `intake` as far as it has room; to nobody when nil. Stays so if this transaction fails.
    ///
    /// Those that this transaction has written for an earlier one are still handed to that.
    public func handOver(to intake: OutboxIntake?) { handover.change(to: intake) }
}
