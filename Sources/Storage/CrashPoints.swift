/// An instant of the durable path at which a test may kill the process, to see what the next start makes of what is left.
package enum CrashPoint: String, CaseIterable, Sendable {
    /// A batch's records, jobs and cursor are in the open transaction.
    case beforeBatchCommit
    /// They are committed; nobody runs their hooks yet.
    case afterCommitBeforeDispatch
    /// A job's hooks have run; what they sent is in memory alone.
    case afterHookBeforeCommit
    /// The outbox rows of ended jobs are in the open transaction, and the jobs are out of it.
    case beforeOutboxCommit
    /// They are committed; the sender has not heard of them.
    case afterOutboxCommitBeforeHandover
    /// The sender has heard of them; they are on no connection yet.
    case afterHandoverBeforeSend
    /// The sender has claimed due rows; they are on no connection yet.
    case afterClaimBeforeSend
    /// A request is on its way to the peer; no answer is here.
    case afterSendBeforeAnswer
    /// An answer is here; it is recorded nowhere.
    case afterAnswerBeforeRecord
    /// What became of rows is in the open transaction.
    case beforeOutcomeCommit
    /// It is committed.
    case afterOutcomeCommit
    /// A step of the sweep is in the open transaction.
    case beforeSweepCommit
    /// It is committed.
    case afterSweepCommit
    /// The write-ahead log is about to be copied into the database file.
    case beforeCheckpoint
    /// It is copied, as far as readers allowed.
    case afterCheckpoint
}

/// Tells a test that the process has come to one of its crash points. What then happens is the test's: this package's
/// products make none, so that there is nothing in them that could be set off.
package struct CrashPoints: Sendable {
    private let reached: @Sendable (CrashPoint) -> Void

    /// - Parameter reached: called at every crash point, on the thread that comes to it.
    package init(_ reached: @escaping @Sendable (CrashPoint) -> Void) { self.reached = reached }

    package func reach(_ point: CrashPoint) { reached(point) }
}
