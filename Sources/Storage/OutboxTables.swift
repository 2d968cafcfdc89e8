/// The outbox's tables. Times are in milliseconds since 1970.
///
/// A row is written once: that it waits for the first time, that it is being sent, and that it has been, is said of whole
/// runs of rows beside it (`RowRuns`). Its own state is `running` as long as it is in such a run; only a row that ends
/// otherwise, or waits again, is written a second time.
enum OutboxTables {
    /// What creates them where they are missing.
    static let all = [rows, waiting, leases, sent, queue] + indexes

    /// One row per notification and token. The payload comes last: what is in front is read without it, whose end may lie
    /// in pages of its own. `next_attempt_at` is set while a row waits again and at no other time: so the indexes
    /// hold these alone.
    static let rows = """
        CREATE TABLE IF NOT EXISTS _push_rows (
            id INTEGER PRIMARY KEY, dedupe_key BLOB NOT NULL UNIQUE, state TEXT NOT NULL, did TEXT NOT NULL,
            token_id INTEGER NOT NULL, attempts INTEGER NOT NULL, next_attempt_at INTEGER, created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL, failed_at INTEGER, last_error TEXT, hook TEXT NOT NULL, uri TEXT NOT NULL,
            rev TEXT NOT NULL, collapse_id TEXT, priority INTEGER NOT NULL, push_type TEXT NOT NULL, is_once INTEGER,
            badge TEXT, payload TEXT NOT NULL)
        """

    /// Exactly the rows that nobody has taken yet, and since when they are due.
    static let waiting = """
        CREATE TABLE IF NOT EXISTS _push_waiting (
            first INTEGER NOT NULL, last INTEGER PRIMARY KEY, due INTEGER NOT NULL)
        """

    /// Exactly the rows that are being sent, and until when they are their sender's.
    static let leases = """
        CREATE TABLE IF NOT EXISTS _push_leases (
            first INTEGER NOT NULL, last INTEGER PRIMARY KEY, until INTEGER NOT NULL)
        """

    /// Exactly the rows that were sent, and when. They are swept together with their rows: an id that is given out
    /// again is in no run.
    static let sent = """
        CREATE TABLE IF NOT EXISTS _push_sent (
            first INTEGER NOT NULL, last INTEGER PRIMARY KEY, at INTEGER NOT NULL)
        """

    /// The outbox as everybody may read it. A row's run, if it can have one, is the first that ends with it or behind it.
    /// (The plus keeps SQLite from looking for the rows of a run instead.)
    private static let queue = """
        CREATE VIEW IF NOT EXISTS _push_queue AS
        SELECT r.id, r.dedupe_key, iif(s.at IS NOT NULL, 'sent', iif(w.due IS NOT NULL, 'available', r.state)) AS state,
            r.did, r.token_id, r.attempts + (s.at IS NOT NULL) AS attempts,
            ifnull(r.next_attempt_at, w.due) AS next_attempt_at, r.created_at, r.expires_at,
            s.at AS sent_at, r.failed_at, iif(s.at IS NULL, r.last_error, NULL) AS last_error, r.hook, r.uri, r.rev,
            r.payload, r.collapse_id, r.priority, r.push_type, r.is_once, r.badge
        FROM _push_rows AS r LEFT JOIN _push_sent AS s ON r.state = 'running'
            AND s.last = (SELECT last FROM _push_sent WHERE last >= r.id ORDER BY last LIMIT 1) AND s.first <= +r.id
            LEFT JOIN _push_waiting AS w ON r.state = 'running'
            AND w.last = (SELECT last FROM _push_waiting WHERE last >= r.id ORDER BY last LIMIT 1) AND w.first <= +r.id
        """

    private static let indexes = [
        "CREATE INDEX IF NOT EXISTS _push_waiting_due ON _push_waiting (due)",
        "CREATE INDEX IF NOT EXISTS _push_rows_due ON _push_rows (next_attempt_at) WHERE next_attempt_at IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS _push_rows_waiting ON _push_rows (token_id) WHERE next_attempt_at IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS _push_rows_dead ON _push_rows (id) WHERE state = 'dead'",
    ]
}
