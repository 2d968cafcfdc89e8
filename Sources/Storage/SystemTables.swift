import CSQLite

/// The tables that are the same in every Hark database. Their names begin with an underscore, which no NSID does.
enum SystemTables {
    /// "Hark", in the file's header.
    private static let applicationID: Int64 = 0x4861_726b
    private static let version: Int64 = 6

    /// Creates what is missing and brings older tables up to date; a database that is complete is only read.
    static func create(on connection: Connection) throws(StorageError) {
        if try version(of: connection) == version { return }
        // A table that makes way for another takes no one's views with it: they are to read what comes in its place.
        try connection.execute("PRAGMA legacy_alter_table = ON")
        defer { try? connection.execute("PRAGMA legacy_alter_table = OFF") }
        try connection.execute("BEGIN IMMEDIATE")
        do {
            // Asked again: another process may have done it meanwhile.
            let found = try version(of: connection)
            for (old, sql) in TableChanges.all where found > 0 && found <= old { try connection.execute(sql) }
            for sql in statements + OutboxTables.all { try connection.execute(sql) }
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
