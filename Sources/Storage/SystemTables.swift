import CSQLite

/// The tables that are the same in every Hark database. Their names begin with an underscore, which no NSID does.
enum SystemTables {
    /// "Hark", in the file's header.
    private static let applicationID: Int64 = 0x4861_726b
    private static let version: Int64 = 4

    /// Creates what is missing and brings older tables up to date; a database that is complete is only read.
    static func create(on connection: Connection) throws(StorageError) {
        if try version(of: connection) == version { return }
        try connection.execute("BEGIN IMMEDIATE")
        do {
            // Asked again: another process may have done it meanwhile.
            let found = try version(of: connection)
            for (old, sql) in changes where found > 0 && found <= old { try connection.execute(sql) }
            for sql in statements { try connection.execute(sql) }
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    /// 0 for a new file.
    private static func version(of connection: Connection) throws(StorageError) -> Int64 {
        let application = try pragma("application_id", connection)
        let found = try pragma("user_version", connection)
        guard application == 0 || application == applicationID else {
            throw .misuse("\(connection.path) is another program's database")
        }
        guard application == 0 || found <= version else {
            throw .misuse("\(connection.path) was made by a newer hark")
        }
        return application == applicationID ? found : 0
    }

    private static func pragma(_ name: String, _ connection: Connection) throws(StorageError) -> Int64 {
        let statement = try connection.prepare("PRAGMA \(name)")
        return try statement.step() ? statement.integer(0) : 0
    }

    /// What to change in the tables of a version and of those before it, in this order.
    private static let changes: KeyValuePairs<Int64, String> = [
        1: "ALTER TABLE _push_queue ADD COLUMN is_once INTEGER; ALTER TABLE _push_queue ADD COLUMN badge TEXT",
        2: "ALTER TABLE _push_tokens ADD COLUMN failedAt TEXT; ALTER TABLE _push_tokens ADD COLUMN failure TEXT",
        // A row held its message and its lease.
        3: """
        ALTER TABLE _push_queue RENAME TO _push_queue_3;
        \(queueTable); \(messagesTable); \(leasesTable);
        INSERT INTO _push_messages
            SELECT id, hook, uri, rev, payload, collapse_id, priority, push_type, is_once, badge FROM _push_queue_3;
        INSERT INTO _push_queue
            SELECT id, dedupe_key, state, did, token_id, id, attempts, next_attempt_at, created_at, expires_at, sent_at,
                failed_at, last_error FROM _push_queue_3;
        INSERT INTO _push_leases (first, last, until)
            SELECT id, id, lease_until FROM _push_queue_3 WHERE lease_until IS NOT NULL;
        DROP TABLE _push_queue_3;
        """,
    ]

    // Times in milliseconds since 1970. `next_attempt_at` is set while a row waits and at no other time: so the indexes
    // hold the waiting rows alone. What is the same for all rows of a notification is in their message: a row is short,
    // for it is written twice.
    private static let queueTable = """
        CREATE TABLE IF NOT EXISTS _push_queue (
            id INTEGER PRIMARY KEY, dedupe_key BLOB NOT NULL UNIQUE, state TEXT NOT NULL, did TEXT NOT NULL,
            token_id INTEGER NOT NULL, message_id INTEGER NOT NULL, attempts INTEGER NOT NULL,
            next_attempt_at INTEGER, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, sent_at INTEGER,
            failed_at INTEGER, last_error TEXT)
        """

    private static let messagesTable = """
        CREATE TABLE IF NOT EXISTS _push_messages (
            id INTEGER PRIMARY KEY, hook TEXT NOT NULL, uri TEXT NOT NULL, rev TEXT NOT NULL, payload TEXT NOT NULL,
            collapse_id TEXT, priority INTEGER NOT NULL, push_type TEXT NOT NULL, is_once INTEGER, badge TEXT)
        """

    // Runs of rows that are being sent, from `first` to `last`, and until when they are their sender's; see `OutboxLeases`.
    private static let leasesTable = """
        CREATE TABLE IF NOT EXISTS _push_leases (
            id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, until INTEGER NOT NULL)
        """

    private static let statements = [
        // Which table holds which collection, and how far its new columns have been filled: up to that uri, in order
        // of uri; NULL when they are.
        """
        CREATE TABLE IF NOT EXISTS _collections (
            nsid TEXT PRIMARY KEY NOT NULL, table_name TEXT NOT NULL COLLATE NOCASE UNIQUE, filled_to TEXT)
        """,
        "CREATE TABLE IF NOT EXISTS _deletions (uri TEXT PRIMARY KEY NOT NULL, rev TEXT NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE IF NOT EXISTS _hook_jobs (
            id INTEGER PRIMARY KEY, action TEXT NOT NULL, collection TEXT NOT NULL, uri TEXT NOT NULL,
            did TEXT NOT NULL, rkey TEXT NOT NULL, rev TEXT NOT NULL, cid TEXT, record TEXT, time INTEGER NOT NULL,
            live INTEGER NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS _cursor (
            source TEXT PRIMARY KEY NOT NULL, position INTEGER NOT NULL, updated_at TEXT NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS _repos (
            did TEXT PRIMARY KEY NOT NULL, handle TEXT, status TEXT, rev TEXT, updated_at TEXT NOT NULL)
        """,
        """
        CREATE TABLE IF NOT EXISTS _push_tokens (
            did TEXT NOT NULL, token TEXT NOT NULL, platform TEXT NOT NULL, createdAt TEXT NOT NULL,
            environment TEXT NOT NULL, topic TEXT, label TEXT, locale TEXT, lastSeenAt TEXT NOT NULL,
            id INTEGER NOT NULL UNIQUE, failedAt TEXT, failure TEXT, PRIMARY KEY (did, token))
        """,
        // What a provider holds against a token that stays: few, and looked for with every batch of answers.
        "CREATE INDEX IF NOT EXISTS _push_tokens_failed ON _push_tokens (id) WHERE failedAt IS NOT NULL",
        // What people want to be notified of. The row whose type is empty is the whole account's.
        """
        CREATE TABLE IF NOT EXISTS _push_settings (
            did TEXT NOT NULL, type TEXT NOT NULL, push INTEGER NOT NULL, scope TEXT NOT NULL,
            PRIMARY KEY (did, type)) WITHOUT ROWID
        """,
        queueTable, messagesTable, leasesTable,
        "CREATE INDEX IF NOT EXISTS _push_queue_due ON _push_queue (next_attempt_at) WHERE next_attempt_at IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS _push_queue_waiting ON _push_queue (token_id) WHERE next_attempt_at IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS _push_queue_dead ON _push_queue (id) WHERE state = 'dead'",
        // What a hook's sends came to that made no row, in order of time. For operators, who can wait for a scan.
        """
        CREATE TABLE IF NOT EXISTS _push_notes (
            id INTEGER PRIMARY KEY, uri TEXT NOT NULL, hook TEXT NOT NULL, did TEXT, reason TEXT NOT NULL,
            at INTEGER NOT NULL)
        """,
        // Numbers that would be slow or impossible to count: ids given out, rows settled.
        "CREATE TABLE IF NOT EXISTS _counters (name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) WITHOUT ROWID",
        "INSERT OR IGNORE INTO _counters VALUES ('token-id', 0), ('push-sent', 0), ('push-failed', 0)",
    ]
}
