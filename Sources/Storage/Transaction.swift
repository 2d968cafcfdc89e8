import CSQLite

/// The writer's open transaction. Confined to the writer's thread, valid only inside the body it is handed to.
///
/// After an error a body must not go on: the error may have ended the transaction.
public final class Transaction {
    /// Reads what this transaction has written so far.
    public let connection: Connection
    /// The statements of the records' tables.
    let records: RecordStatements
    /// The id of the next hook job. Counted here, so that none is used twice while the process lives.
    var nextJobID: Int64
    /// False while no deletion is remembered, so that none needs to be looked for.
    var hasDeletions: Bool
    /// The texts of the row that is being written.
    let arena = TextArena()
    /// Makes outbox rows' dedupe keys.
    var dedupe = DedupeKeyMaker()
    /// nil once the connection is closed.
    var outbox: OutboxStatements?
    var recipients = RecipientCache()
    /// The records that say who follows whom.
    public var follows = FollowRecords.grain
    /// Outbox rows that go straight to who sends them.
    var handover = OutboxHandover()
    private let crash: CrashPoints?

    init(_ connection: Connection, crash: CrashPoints?) throws(StorageError) {
        self.connection = connection
        self.crash = crash
        records = RecordStatements(connection)
        outbox = try OutboxStatements(connection)
        let start = try connection.statement(
            "SELECT (SELECT ifnull(max(id), 0) + 1 FROM _hook_jobs), EXISTS (SELECT 1 FROM _deletions)")
        defer { start.reset() }
        guard try start.step() else { throw start.failure }
        nextJobID = start.integer(0)
        hasDeletions = start.integer(1) != 0
    }

    /// Whether the transaction has ended by itself or was never begun.
    var isLost: Bool { !connection.isInTransaction }

    /// For the methods that bodies call.
    func checkOpen() throws(StorageError) {
        if isLost { throw .misuse("the transaction has ended") }
    }

    // MARK: For the writer

    func begin() throws(StorageError) {
        try connection.statement("BEGIN IMMEDIATE").run()
        do { try recipients.transactionBegan(on: connection) } catch {
            rollBack()
            throw error
        }
    }

    /// Runs one body. When it throws nothing of its work remains: that of others stays when it is `isolated` from
    /// them, and otherwise the transaction is over.
    func attempt(_ submission: any Submission, isolated: Bool) -> (any Error)? {
        let (mark, handed) = (records.mark, handover.mark)
        do {
            if isolated { try connection.statement("SAVEPOINT body").run() }
            try submission.run(self)
            try checkOpen()
            if isolated { try connection.statement("RELEASE body").run() }
            return nil
        } catch {
            if isolated, !isLost, undoBody() {
                records.forget(from: mark)
                handover.forget(from: handed)
                recipients.removeAll()
            } else {
                rollBack()
            }
            return error
        }
    }

    private func undoBody() -> Bool {
        do {
            try connection.statement("ROLLBACK TO body").run()
            try connection.statement("RELEASE body").run()
            return true
        } catch { return false }
    }

    /// What prevented the commit; nothing of the transaction remains then.
    func commit() -> StorageError? {
        do {
            if !handover.rows.isEmpty { try addLeases(IDRuns(handover.rows.map(\.id)), until: handover.until) }
            try connection.statement("COMMIT").run()
            records.committed()
            if !handover.isEmpty { crash?.reach(.afterOutboxCommitBeforeHandover) }
            handover.committed()
            return nil
        } catch {
            rollBack()
            return error
        }
    }

    func rollBack() {
        records.forget(from: 0)
        handover.forget(from: 0)
        recipients.removeAll()
        // Fails when SQLite has rolled back already, which is as good.
        if !isLost { try? connection.statement("ROLLBACK").run() }
    }

    /// Closes the connection. Nothing may be called afterwards.
    func end() {
        records.removeAll()
        outbox = nil
        handover = OutboxHandover()
        connection.close()
    }
}
