import ATProto
import CSQLite

extension Transaction {
    /// Writes a batch: rows, hook jobs, repos and cursor.
    public func apply(_ batch: RecordBatch) throws -> AppliedBatch {
        try checkOpen()
        var applied = AppliedBatch()
        let indexedAt = Timestamp.text(batch.now)
        // All new tables first: each change of the schema has every statement prepared again.
        for change in batch.changes where change.action != .delete { _ = try records.statements(for: change.table) }
        try Array(indexedAt.utf8).withUnsafeBufferPointer { indexedAt in
            for change in batch.changes {
                let isApplied =
                    change.action == .delete
                    ? try delete(change, &applied) : try put(change, indexedAt: indexedAt, &applied)
                if isApplied, change.wanted { applied.jobs.append(try addJob(change)) }
            }
        }
        for repo in batch.repos { try update(repo, at: indexedAt) }
        if let cursor = batch.cursor { try setCursor(cursor.source, cursor.position, at: indexedAt) }
        return applied
    }

    // MARK: Rows

    private func put(
        _ change: RecordChange, indexedAt: UnsafeBufferPointer<UInt8>, _ applied: inout AppliedBatch
    ) throws(StorageError) -> Bool {
        let statement = try records.statements(for: change.table).put
        guard try !isDeleted(change) else {
            applied.stale += 1
            return false
        }
        let isApplied = try run(statement, with: change.row, indexedAt)
        if !isApplied {
            applied.stale += 1
        } else if change.action == .create {
            applied.created += 1
        } else {
            applied.updated += 1
        }
        return isApplied
    }

    /// Steps `statement` with a row's columns, bound to where they lie. True when it changed a row.
    private func run(
        _ statement: Statement, with row: RowImage, _ indexedAt: UnsafeBufferPointer<UInt8>
    ) throws(StorageError) -> Bool {
        let code = row.bytes.withUnsafeBufferPointer { bytes in
            let handle = statement.handle
            var index: Int32 = 0
            var code: Int32 = 0
            func text(_ start: UnsafePointer<UInt8>?, _ count: Int) {
                index += 1
                let text = UnsafeRawPointer(start ?? bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
                code |= sqlite3_bind_text64(handle, index, text, UInt64(count), nil, UInt8(SQLITE_UTF8))
            }
            func text(_ range: Range<Int>) { text(bytes.baseAddress.map { $0 + range.lowerBound }, range.count) }
            text(row.uri)
            if row.cid.isEmpty { index += 1 } else { text(row.cid) }
            text(row.did)
            text(row.rkey)
            text(row.rev)
            text(indexedAt.baseAddress, indexedAt.count)
            text(row.json)
            for cell in row.cells {
                switch cell {
                case .text(let range): text(range)
                case .null: index += 1
                case .integer(let value):
                    index += 1
                    code |= sqlite3_bind_int64(handle, index, value)
                case .real(let value):
                    index += 1
                    code |= sqlite3_bind_double(handle, index, value)
                case .blob(let range):
                    index += 1
                    code |= sqlite3_bind_blob64(
                        handle, index, bytes.baseAddress.map { $0 + range.lowerBound }, UInt64(range.count), nil)
                }
            }
            guard code == SQLITE_OK, index == sqlite3_bind_parameter_count(handle) else { return SQLITE_MISUSE }
            return sqlite3_step(handle)
        }
        defer { statement.reset() }
        guard code == SQLITE_DONE else {
            throw code == SQLITE_MISUSE ? .misuse("a record's values do not fit its table") : statement.failure
        }
        return sqlite3_changes(connection.handle) > 0
    }

    private func delete(_ change: RecordChange, _ applied: inout AppliedBatch) throws(StorageError) -> Bool {
        // A collection without a table has no rows; the deletion counts all the same.
        let statements = try records.existingStatements(for: change.table)
        if let statements, try statements.deleteRow(change.uri, olderThan: change.rev) {
            _ = try bury(change)
            applied.deleted += 1
            return true
        }
        if let statements, try statements.hasRow(change.uri) {
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
        guard hasDeletions else { return false }
        let statement = try connection.statement("SELECT 1 FROM _deletions WHERE uri = ? AND rev >= ?")
        defer { statement.reset() }
        statement.bind(1, change.uri)
        statement.bind(2, change.rev)
        return try statement.step()
    }

    /// Remembers the deletion; false when one as new was known.
    private func bury(_ change: RecordChange) throws(StorageError) -> Bool {
        let statement = try connection.statement(
            """
            INSERT INTO _deletions (uri, rev) VALUES (?, ?)
            ON CONFLICT (uri) DO UPDATE SET rev = excluded.rev WHERE excluded.rev > rev
            """)
        statement.bind(1, change.uri)
        statement.bind(2, change.rev)
        try statement.run()
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
