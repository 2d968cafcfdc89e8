import CSQLite
import Synchronization

/// The thread that owns the writing connection and commits what others submit, many bodies a transaction.
final class Writer: @unchecked Sendable {
    /// A transaction takes no further bodies once it holds so many changed rows or has lasted so long: readers and
    /// callers wait for its end.
    private static let changesPerTransaction: Int64 = 10_000
    private static let nanosecondsPerTransaction: UInt64 = 100_000_000

    private let inbox = Inbox<any Submission>()
    // Set before the thread starts, then touched by it alone.
    private let transaction: Transaction
    private let checkpointer: Checkpointer
    private let crash: CrashPoints?
    private let thread = Mutex<OwnThread?>(nil)

    init(_ connection: Connection, crash: CrashPoints?) throws(StorageError) {
        transaction = try Transaction(connection, crash: crash)
        checkpointer = try Checkpointer(connection, crash: crash)
        self.crash = crash
        let started = try OwnThread { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Whether the caller is on the writer's thread, where waiting for the writer would be for ever.
    var isCurrent: Bool { thread.withLock { $0?.isCurrent ?? false } }

    func submit(_ submission: any Submission) {
        if !inbox.put(submission) { submission.finish(StorageError.misuse("the database is closed")) }
    }

    /// Commits what was submitted and ends the thread, waiting for that unless it is the caller's own.
    func close() {
        inbox.close()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        while let submissions = inbox.take(patience: checkpointer.patience) {
            var rest = submissions[...]
            while !rest.isEmpty {
                rest = rest.dropFirst(commit(rest))
                checkpointer.committed()
            }
            if submissions.isEmpty { checkpointer.idle() }
        }
        checkpointer.finish()
        // Closing the file's last connection copies what the log still holds.
        crash?.reach(.beforeCheckpoint)
        transaction.end()
        crash?.reach(.afterCheckpoint)
    }

    /// Runs the first bodies of `submissions` in one transaction, commits, and reports. Returns how many they were.
    private func commit(_ submissions: ArraySlice<any Submission>) -> Int {
        do { try transaction.begin() } catch {
            for submission in submissions { submission.finish(error) }
            return submissions.count
        }
        let changesLimit = transaction.connection.totalChanges + Self.changesPerTransaction
        let deadline = StatementGuard.nanoseconds() + Self.nanosecondsPerTransaction
        var failures: [(any Error)?] = []
        for submission in submissions {
            let failure = transaction.attempt(submission, isolated: submissions.count > 1)
            failures.append(failure)
            if let failure, transaction.isLost {
                return recover(submissions.prefix(failures.count), failures, culprit: failure)
            }
            if transaction.connection.totalChanges >= changesLimit || StatementGuard.nanoseconds() > deadline { break }
        }
        let outcome = transaction.commit()
        for (submission, failure) in zip(submissions, failures) { submission.finish(failure ?? outcome) }
        return failures.count
    }

    /// The last body took the whole transaction with it (a full disk, an interrupted write): those before it, whose
    /// work is gone, run again, each alone.
    private func recover(
        _ submissions: ArraySlice<any Submission>, _ failures: [(any Error)?], culprit: any Error
    ) -> Int {
        transaction.rollBack()
        for (submission, failure) in zip(submissions, failures).dropLast() {
            if let failure { submission.finish(failure) } else { _ = commit([submission]) }
        }
        submissions.last?.finish(culprit)
        return submissions.count
    }
}

/// A body on its way to the writer.
protocol Submission: AnyObject, Sendable {
    func run(_ transaction: Transaction) throws
    /// Called once, after the commit or with what prevented it.
    func finish(_ failure: (any Error)?)
}

/// A body with its result. Confined to the writer's thread once submitted.
final class BodySubmission<T: Sendable>: Submission, @unchecked Sendable {
    private let body: @Sendable (Transaction) throws -> T
    private let committed: @Sendable (Result<T, any Error>) -> Void
    private var result: T?

    init(
        _ body: @escaping @Sendable (Transaction) throws -> T,
        committed: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        self.body = body
        self.committed = committed
    }

    func run(_ transaction: Transaction) throws { result = try body(transaction) }

    func finish(_ failure: (any Error)?) {
        if let failure {
            committed(.failure(failure))
        } else if let result {
            committed(.success(result))
        }
    }
}
