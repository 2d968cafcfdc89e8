/// How the tables of earlier versions become those of the next one.
enum TableChanges {
    /// What to change in the tables of a version and of those before it, in this order.
    static let all: KeyValuePairs<Int64, String> = [
        1: "ALTER TABLE _push_queue ADD COLUMN is_once INTEGER; ALTER TABLE _push_queue ADD COLUMN badge TEXT",
        2: "ALTER TABLE _push_tokens ADD COLUMN failedAt TEXT; ALTER TABLE _push_tokens ADD COLUMN failure TEXT",
        3: splitRows,
        4: joinRows,
        // Rows that nobody had taken yet said so themselves, and may go on to.
        5: "DROP VIEW IF EXISTS _push_queue",
    ]

    /// A row held its message and its lease.
    private static let splitRows = """
        ALTER TABLE _push_queue RENAME TO _push_queue_3;
        CREATE TABLE _push_queue (
            id INTEGER PRIMARY KEY, dedupe_key BLOB NOT NULL UNIQUE, state TEXT NOT NULL, did TEXT NOT NULL,
            token_id INTEGER NOT NULL, message_id INTEGER NOT NULL, attempts INTEGER NOT NULL,
            next_attempt_at INTEGER, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, sent_at INTEGER,
            failed_at INTEGER, last_error TEXT);
        CREATE TABLE _push_messages (
            id INTEGER PRIMARY KEY, hook TEXT NOT NULL, uri TEXT NOT NULL, rev TEXT NOT NULL, payload TEXT NOT NULL,
            collapse_id TEXT, priority INTEGER NOT NULL, push_type TEXT NOT NULL, is_once INTEGER, badge TEXT);
        CREATE TABLE _push_leases (
            id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, until INTEGER NOT NULL);
        INSERT INTO _push_messages
            SELECT id, hook, uri, rev, payload, collapse_id, priority, push_type, is_once, badge FROM _push_queue_3;
        INSERT INTO _push_queue
            SELECT id, dedupe_key, state, did, token_id, id, attempts, next_attempt_at, created_at, expires_at, sent_at,
                failed_at, last_error FROM _push_queue_3;
        INSERT INTO _push_leases (first, last, until)
            SELECT id, id, lease_until FROM _push_queue_3 WHERE lease_until IS NOT NULL;
        DROP TABLE _push_queue_3;
        """

    /// A row named its message and said itself that it was sent; leases overlapped, and held rows that had ended.
    ///
    /// Ids less their place among their like are the same for neighbours: these make runs. A running row that nobody
    /// holds is due.
    private static let joinRows = """
        ALTER TABLE _push_queue RENAME TO _push_queue_4;
        ALTER TABLE _push_leases RENAME TO _push_leases_4;
        \(OutboxTables.rows); \(OutboxTables.leases); \(OutboxTables.sent);
        INSERT INTO _push_leases
            SELECT min(id), max(id), until FROM (
                SELECT id, until, id - row_number() OVER (PARTITION BY until ORDER BY id) AS run FROM (
                    SELECT q.id, l.until, max(l.id)
                    FROM _push_leases_4 AS l JOIN _push_queue_4 AS q ON q.id BETWEEN l.first AND l.last
                    WHERE q.state = 'running' GROUP BY q.id))
            GROUP BY until, run;
        INSERT INTO _push_sent
            SELECT min(id), max(id), at FROM (
                SELECT id, at, id - row_number() OVER (PARTITION BY at ORDER BY id) AS run FROM (
                    SELECT id, ifnull(sent_at, created_at) AS at FROM _push_queue_4 WHERE state = 'sent'))
            GROUP BY at, run;
        INSERT INTO _push_rows
            SELECT q.id, q.dedupe_key, iif(q.state = 'sent', 'running', q.state), q.did, q.token_id,
                q.attempts - (q.state = 'sent'), q.next_attempt_at, q.created_at, q.expires_at, q.failed_at,
                q.last_error, m.hook, m.uri, m.rev, m.collapse_id, m.priority, m.push_type, m.is_once, m.badge, m.payload
            FROM _push_queue_4 AS q JOIN _push_messages AS m ON m.id = q.message_id ORDER BY q.id;
        UPDATE _push_rows SET state = 'retry', next_attempt_at = created_at
            WHERE id IN (SELECT id FROM _push_queue_4 AS q WHERE state = 'running' AND NOT EXISTS (
                SELECT 1 FROM _push_leases_4 WHERE q.id BETWEEN first AND last));
        DROP TABLE _push_queue_4; DROP TABLE _push_messages; DROP TABLE _push_leases_4
        """
}
