import ATProto
import CSQLite

extension Transaction {
    /// Writes a batch: rows, hook jobs, repos and cursor.
    public func apply(_ batch: RecordBatch) throws -> AppliedBatch {
        try checkOpen()
        var applied = AppliedBatch()
        let indexedAt = Timestamp.text(batch.now)
        // A span lends its elements; iterating the array would retain the parts of each change.
        let changes = batch.changes.span
        // All new tables first: each change of the schema has every statement prepared again.
        for index in changes.indices where changes[index].action != .delete {
            _ = try records.statements(for: changes[index].table)
        }
        try Array(indexedAt.utf8).withUnsafeBufferPointer { indexedAt in
            for index in changes.indices { try apply(changes[index], indexedAt, &applied) }
        }
        for repo in batch.repos { try update(repo, at: indexedAt) }
        if let cursor = batch.cursor { try setCursor(cursor.source, cursor.position, at: indexedAt) }
        return applied
    }

    private func apply(
        _ change: RecordChange, _ indexedAt: UnsafeBufferPointer<UInt8>, _ applied: inout AppliedBatch
    ) throws(StorageError) {
        let isApplied =
            change.action == .delete ? try delete(change, &applied) : try put(change, indexedAt, &applied)
        if isApplied, change.wanted { applied.jobs.append(try addJob(change)) }
    }

    // MARK: Rows

    private func put(
        _ change: RecordChange, _ indexedAt: UnsafeBufferPointer<UInt8>, _ applied: inout AppliedBatch
    ) throws(StorageError) -> Bool {
        let table = try records.statements(for: change.table)
        guard change.row.cells.count == change.table.layout.columns.count else {
            throw .misuse("a record's values do not fit its table \(change.table.collection)")
        }
        if hasDeletions, try isDeleted(change) {
            applied.stale += 1
            return false
        }
        guard try table.putRow(change.row, indexedAt) else {
            applied.stale += 1
            return false
        }
        if change.action == .create { applied.created += 1 } else { applied.updated += 1 }
        return true
    }

    private func delete(_ change: RecordChange, _ applied: inout AppliedBatch) throws(StorageError) -> Bool {
        // A collection without a table has no rows; the deletion counts all the same.
        let statements = try records.existingStatements(for: change.table)
        if let statements, try statements.deleteRow(change.row) {
            _ = try bury(change)
            applied.deleted += 1
            return true
        }
        if let statements, try statements.hasRow(change.row) {
            applied.stale += 1
        } else if try bury(change) {
            applied.unknownDeletes += 1
        } else {
            applied.stale += 1
        }
        return false
    }

    // MARK: Deletions

    /// Whether the record was deleted at this rev or later.
    private func isDeleted(_ change: RecordChange) throws(StorageError) -> Bool {
        let statement = try connection.statement("SELECT 1 FROM _deletions WHERE uri = ? AND rev >= ?")
        defer { statement.reset() }
        return try statement.step(over: change.row) { row, memory in
            memory.bind(1, row.uri)
            memory.bind(2, row.rev)
        }
    }

    /// Remembers the deletion; false when one as new was known.
    private func bury(_ change: RecordChange) throws(StorageError) -> Bool {
        let statement = try connection.statement(
            """
            INSERT INTO _deletions (uri, rev) VALUES (?, ?)
            ON CONFLICT (uri) DO UPDATE SET rev = excluded.rev WHERE excluded.rev > rev
            """)
        defer { statement.reset() }
        _ = try statement.step(over: change.row) { row, memory in
            memory.bind(1, row.uri)
            memory.bind(2, row.rev)
        }
        hasDeletions = true
        return statement.changes > 0
    }

    // MARK: Repos and cursor

    private func update(_ repo: RepoUpdate, at time: String) throws(StorageError) {
        let statement = try connection.statement(
            """
            INSERT INTO _repos (did, handle, status, updated_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (did) DO UPDATE SET handle = coalesce(excluded.handle, handle),
                status = coalesce(excluded.status, status), updated_at = excluded.updated_at
            """)
        statement.bind(1, repo.did)
        statement.bind(2, repo.handle)
        statement.bind(3, repo.status)
        statement.bind(4, time)
        try statement.run()
    }

    private func setCursor(_ source: String, _ position: Int64, at time: String) throws(StorageError) {
        let statement = try connection.statement(
            """
            INSERT INTO _cursor (source, position, updated_at) VALUES (?, ?, ?)
            ON CONFLICT (source) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at
            """)
        statement.bind(1, source)
        statement.bind(2, position)
        statement.bind(3, time)
        try statement.run()
    }
}

extension Connection {
    /// How far `source` has been read; nil when it never was.
    public func cursor(source: String) throws -> Int64? {
        let statement = try statement("SELECT position FROM _cursor WHERE source = ?")
        statement.bind(1, source)
        return try statement.first { $0.integer(0) }
    }
}
