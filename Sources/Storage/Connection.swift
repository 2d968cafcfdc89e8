import CSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One SQLite connection. Confined to one thread at a time.
public final class Connection {
    enum Role {
        case writer, reader
        /// Copies the write-ahead log.
        case copier
    }

    let handle: OpaquePointer
    let state: UnsafeMutablePointer<StatementGuard>
    /// Hark's own statements, by the address of their literal.
    private var statements: [UnsafeRawPointer: Statement] = [:]
    /// Hooks' statements and those that Hark composes.
    var composed = StatementCache()
    /// The SQL of lookups, by collection and field.
    var lookups: [LookupKey: String] = [:]
    private var isClosed = false

    init(path: String, role: Role) throws(StorageError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .misuse("no usable path for the database") }
        guard configured == SQLITE_OK else { throw .misuse("SQLite cannot be configured") }
        // SQLite reads "file:…" and ":memory:" its own way.
        let file = path.hasPrefix("/") ? path : "./" + path
        let access =
            switch role {
            case .writer: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .reader: SQLITE_OPEN_READONLY
            case .copier: SQLITE_OPEN_READWRITE
            }
        if role == .writer { createPrivately(file) }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(file, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let error = StorageError(opened)
            sqlite3_close(opened)
            throw StorageError(code: error.code, message: "\(path): \(error.message)")
        }
        handle = opened
        state = .allocate(capacity: 1)
        state.initialize(to: StatementGuard())
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 10_000)
        _ = hark_sqlite_set_defensive(handle)
        StatementGuard.install(state, on: handle)
        do {
            try execute("PRAGMA temp_store = MEMORY")
            switch role {
            case .writer: try prepareForWriting()
            case .reader: break
            // Reading opens the log.
            case .copier: try execute("PRAGMA synchronous = NORMAL; SELECT 1 FROM sqlite_schema")
            }
        } catch {
            throw StorageError(code: error.code, message: "\(path): \(error.message)")
        }
    }

    deinit {
        close()
        state.deallocate()
    }

    /// Ends the connection; nothing may be called afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        statements = [:]
        composed.removeAll()
        sqlite3_close_v2(handle)
    }

    private func prepareForWriting() throws(StorageError) {
        try execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = NORMAL;
            PRAGMA cache_size = -40000;
            PRAGMA journal_size_limit = 67108864;
            PRAGMA secure_delete = FAST;
            """)
    }

    /// The file's absolute path, symbolic links resolved.
    var path: String { String(cString: sqlite3_db_filename(handle, "main")) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rows changed since the connection was opened.
    var totalChanges: Int64 { sqlite3_total_changes64(handle) }

    /// The id of the row that was inserted last.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Statements that exist on this connection.
    var openStatements: Int {
        var count = 0
        var statement = sqlite3_next_stmt(handle, nil)
        while let present = statement {
            count += 1
            statement = sqlite3_next_stmt(handle, present)
        }
        return count
    }

    // MARK: Statements

    /// Runs statements that take no parameters and whose rows nobody wants.
    func execute(_ sql: String) throws(StorageError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw StorageError(handle, sql: sql) }
    }

    /// The statement of a literal, prepared once and kept.
    func statement(_ sql: StaticString) throws(StorageError) -> Statement {
        let key = UnsafeRawPointer(sql.utf8Start)
        if let known = statements[key] { return known }
        let made = try prepare(sql.description)
        statements[key] = made
        return made
    }

    /// Prepares one statement that is to be kept.
    func prepare(_ sql: String) throws(StorageError) -> Statement {
        var text = sql
        var handle: OpaquePointer?
        var isWhole = true
        let code = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { bytes in
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v3(
                    self.handle, bytes.baseAddress ?? noBytes, CInt(clamping: bytes.count),
                    UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
                if code == SQLITE_OK, let tail, let start = bytes.baseAddress {
                    isWhole = isBlank(bytes[(tail - start)...])
                }
                return code
            }
        }
        guard code == SQLITE_OK else { throw StorageError(self.handle, sql: sql) }
        guard let handle else { throw .misuse("the SQL is empty", sql: sql) }
        let statement = Statement(handle)
        guard isWhole else { throw .misuse("the SQL holds more than one statement", sql: sql) }
        return statement
    }

    /// Whether `sql` holds nothing but white space, comments and semicolons.
    private func isBlank(_ sql: Slice<UnsafeBufferPointer<CChar>>) -> Bool {
        var rest = UnsafeBufferPointer(rebasing: sql)
        while let start = rest.baseAddress, !rest.isEmpty {
            var handle: OpaquePointer?
            var tail: UnsafePointer<CChar>?
            guard sqlite3_prepare_v2(self.handle, start, CInt(clamping: rest.count), &handle, &tail) == SQLITE_OK
            else { return false }
            guard handle == nil else {
                sqlite3_finalize(handle)
                return false
            }
            guard let tail, tail > start else { return true }
            rest = UnsafeBufferPointer(rebasing: rest[(tail - start)...])
        }
        return true
    }
}

private let configured = hark_sqlite_configure()

/// Devices' tokens are in it: a new database is its owner's alone, and so are the files that SQLite makes beside it. What
/// prevents that, SQLite will say.
private func createPrivately(_ file: String) {
    let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
}

/// `name` as an SQL identifier.
func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
