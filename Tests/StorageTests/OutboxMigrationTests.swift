import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

/// Databases of earlier versions, their tables as those made them.
@Suite struct OutboxMigrationTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A row of an earlier version's outbox.
    private struct OldRow {
        var state: String
        var due: Int64?
        var leaseUntil: Int64?
        var sentAt: Int64?
        var failedAt: Int64?
    }

    /// One in each state, and runs of sent ones with gaps and different times.
    private static let rows = [
        OldRow(state: "available", due: now), OldRow(state: "running", leaseUntil: now + 50),
        OldRow(state: "retry", due: now + 10), OldRow(state: "sent", sentAt: now), OldRow(state: "dead", failedAt: now),
        OldRow(state: "sent", sentAt: now), OldRow(state: "sent", sentAt: now), OldRow(state: "sent", sentAt: now + 1),
        OldRow(state: "running"), OldRow(state: "sent", sentAt: now),
    ]

    private static func sql(_ value: Int64?) -> String { value.map { "\($0)" } ?? "NULL" }

    /// Puts the outbox of `version` in the place of today's.
    private func makeOlder(_ version: Int) throws {
        let database = try scratch.open()
        for token in ["one", "two"] { try database.register("did:a", token, at: now) }
        database.close()
        let raw = try Connection(path: scratch.path, role: .writer)
        defer { raw.close() }
        try raw.execute(
            """
            DROP VIEW _push_queue; DROP TABLE _push_rows; DROP TABLE _push_waiting; DROP TABLE _push_leases;
            DROP TABLE _push_sent;
            PRAGMA user_version = \(version);
            """)
        if version < 4 { try raw.execute("DROP TABLE _push_notes") }
        if version < 3 {
            try raw.execute(
                """
                DROP INDEX _push_tokens_failed; ALTER TABLE _push_tokens DROP COLUMN failedAt;
                ALTER TABLE _push_tokens DROP COLUMN failure; DROP TABLE _push_settings;
                """)
        }
        switch version {
        case ..<4: try makeWholeRows(raw, haveBadges: version > 1)
        case 4: try makeSplitRows(raw)
        default: try makeRuns(raw)
        }
    }

    /// Versions 1 to 3: a row holds all that there is.
    private func makeWholeRows(_ raw: Connection, haveBadges: Bool) throws {
        try raw.execute(
            """
            CREATE TABLE _push_queue (
                id INTEGER PRIMARY KEY, dedupe_key BLOB NOT NULL UNIQUE, state TEXT NOT NULL, did TEXT NOT NULL,
                token_id INTEGER NOT NULL, hook TEXT NOT NULL, uri TEXT NOT NULL, rev TEXT NOT NULL,
                payload TEXT NOT NULL, collapse_id TEXT, priority INTEGER NOT NULL, push_type TEXT NOT NULL,
                attempts INTEGER NOT NULL, next_attempt_at INTEGER, lease_until INTEGER, created_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL, sent_at INTEGER, failed_at INTEGER, last_error TEXT
                \(haveBadges ? ", is_once INTEGER, badge TEXT" : ""));
            CREATE INDEX _push_queue_due ON _push_queue (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_queue_waiting ON _push_queue (token_id) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_queue_running ON _push_queue (lease_until) WHERE lease_until IS NOT NULL;
            CREATE INDEX _push_queue_dead ON _push_queue (id) WHERE state = 'dead';
            """)
        for (number, row) in Self.rows.enumerated() {
            try raw.execute(
                """
                INSERT INTO _push_queue VALUES (NULL, zeroblob(15) || char(\(number)), '\(row.state)', 'did:a', 2, 'hook',
                    'at://x/y.z/\(number)', 'r', '{}', 'c', 5, 'alert', \(number), \(Self.sql(row.due)),
                    \(Self.sql(row.leaseUntil)), \(now), \(now + 9000), \(Self.sql(row.sentAt)),
                    \(Self.sql(row.failedAt)), NULL\(haveBadges ? ", 1, 'b'" : ""))
                """)
        }
    }

    /// Version 4: a row names its message, and leases overlap and outlive their rows.
    private func makeSplitRows(_ raw: Connection) throws {
        try raw.execute(
            """
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
            CREATE INDEX _push_queue_due ON _push_queue (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_queue_waiting ON _push_queue (token_id) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_queue_dead ON _push_queue (id) WHERE state = 'dead';
            INSERT INTO _push_leases (first, last, until) VALUES (1, 5, \(now + 20)), (2, 2, \(now + 50)), (6, 8, \(now));
            """)
        for (number, row) in Self.rows.enumerated() {
            try raw.execute(
                """
                INSERT INTO _push_messages VALUES (\(50 + number), 'hook', 'at://x/y.z/\(number)', 'r', '{}', 'c', 5, 'alert',
                    1, 'b');
                INSERT INTO _push_queue VALUES (NULL, zeroblob(15) || char(\(number)), '\(row.state)', 'did:a', 2,
                    \(50 + number), \(number), \(Self.sql(row.due)), \(now), \(now + 9000), \(Self.sql(row.sentAt)),
                    \(Self.sql(row.failedAt)), NULL);
                """)
        }
    }

    /// Version 5: what was being sent and what was sent are runs; a row that nobody had taken yet said so itself.
    private func makeRuns(_ raw: Connection) throws {
        try raw.execute(
            """
            \(OutboxTables.rows); \(OutboxTables.leases); \(OutboxTables.sent);
            CREATE VIEW _push_queue AS SELECT r.*, s.at AS sent_at FROM _push_rows AS r LEFT JOIN _push_sent AS s
                ON r.id BETWEEN s.first AND s.last;
            CREATE INDEX _push_rows_due ON _push_rows (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_rows_waiting ON _push_rows (token_id) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_rows_dead ON _push_rows (id) WHERE state = 'dead';
            INSERT INTO _push_leases VALUES (2, 2, \(now + 50));
            INSERT INTO _push_sent VALUES (4, 4, \(now)), (6, 7, \(now)), (8, 8, \(now + 1)), (10, 10, \(now));
            """)
        for (number, row) in Self.rows.enumerated() {
            let isOver = row.state == "running" && row.leaseUntil == nil
            let (state, due) = isOver ? ("retry", now) : (row.sentAt == nil ? row.state : "running", row.due)
            try raw.execute(
                """
                INSERT INTO _push_rows VALUES (NULL, zeroblob(15) || char(\(number)), '\(state)', 'did:a', 2,
                    \(row.sentAt == nil ? number : number - 1), \(Self.sql(due)), \(now), \(now + 9000),
                    \(Self.sql(row.failedAt)), NULL, 'hook', 'at://x/y.z/\(number)', 'r', 'c', 5, 'alert', 1, 'b', '{}');
                """)
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func bringsOlderTablesUpToDate(_ version: Int) throws {
        try makeOlder(version)
        let database = try scratch.open()
        defer { database.close() }
        #expect(try database.read { try $0.prepare("PRAGMA user_version").first { $0.integer(0) } } == 6)
        #expect(try database.read { try $0.tokens(did: nil) }.map(\.failure) == [nil, nil])
        #expect(try database.writeBlocking { try $0.changePushSettings(did: "did:b", push: false) }.push == false)
        let rows = try database.read { try $0.outboxRows(limit: 99) }.reversed()
        #expect(
            rows.map(\.state) == [
                "available", "running", "retry", "sent", "dead", "sent", "sent", "sent", "retry", "sent",
            ])
        #expect(rows.map(\.uri) == (0..<10).map { "at://x/y.z/\($0)" } && rows.map(\.attempts) == Array(0..<10))
        #expect(rows.map(\.sentAt) == Self.rows.map { $0.sentAt.map { Timestamp.text($0) } })
        #expect(rows.map(\.failedAt) == Self.rows.map { $0.failedAt.map { Timestamp.text($0) } })
        #expect(rows.map(\.apnsID).allSatisfy { $0.hasPrefix("00000000-0000-8000-8000-00000000000") })
        #expect(
            try database.rows("SELECT first, last, at FROM _push_sent ORDER BY last")
                == [[4, 4, now], [6, 7, now], [8, 8, now + 1], [10, 10, now]].map { $0.map { .integer($0) } })
        let counts = try database.read { try $0.outboxCounts() }
        #expect(counts.waiting == 3 && counts.running == 1)
        let tables = try database.texts(
            "SELECT name FROM sqlite_schema WHERE name GLOB '*_[34]' OR name = '_push_messages'")
        #expect(tables.isEmpty)
    }

    /// An operator's, or a hook's.
    @Test(arguments: [1, 2, 3, 4, 5]) func viewsOfTheOutboxStay(_ version: Int) throws {
        try makeOlder(version)
        let raw = try Connection(path: scratch.path, role: .writer)
        try raw.execute(
            """
            CREATE VIEW states AS SELECT q.state, count(*) AS number FROM _push_queue AS q GROUP BY 1;
            CREATE TABLE mine (a); CREATE VIEW others AS SELECT a FROM mine
            """)
        raw.close()
        let database = try scratch.open()
        defer { database.close() }
        #expect(try database.number("SELECT number FROM states WHERE state = 'sent'") == 5)
        // Otherwise a view follows its table.
        #expect(throws: Never.self) {
            try database.writeBlocking { try $0.run("ALTER TABLE mine RENAME TO yours", []) }
        }
        #expect(try database.rows("SELECT a FROM others").isEmpty)
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func whatWasOnItsWayGoesOn(_ version: Int) throws {
        try makeOlder(version)
        let database = try scratch.open()
        defer { database.close() }
        // The lease holds, and ends.
        func claim(at time: Int64) throws -> [QueuedPush] {
            try database.writeBlocking { try $0.claimPushes(limit: 9, now: time, leaseUntil: time + 500).pushes }
        }
        let first = try claim(at: now + 10)
        #expect(first.map(\.id) == [1, 9, 3])
        #expect(try claim(at: now + 49).isEmpty)
        #expect(try claim(at: now + 50).map(\.id) == [2])
        #expect(
            first.allSatisfy { $0.message.collapseID == "c" && $0.message.priority == 5 && $0.device.token == "two" })
        #expect(
            first.allSatisfy { $0.message.isOnce == (version > 1) && $0.message.badge == (version > 1 ? "b" : nil) })
        // What is new has an id of its own; what was there is known.
        let entry = OutboxEntry(
            did: "did:a", hook: "hook", uri: "at://x/y.z/new", rev: "r", place: 0, payload: Array("{}".utf8),
            collapseID: nil, priority: 10, pushType: "alert", expiresAt: now + 1000)
        #expect(try database.writeBlocking { try $0.finish(job: 1, notifications: [entry], now: now) }.queued == 2)
        #expect(try database.read { try $0.outboxRows(uri: "at://x/y.z/new", limit: 9) }.map(\.id) == [12, 11])
        #expect(try database.writeBlocking { try $0.retryPush(4, now: now, lifetime: 1) } == .inState("sent"))
        #expect(try database.writeBlocking { try $0.retryPush(5, now: now, lifetime: 1) } == .due)
    }
}
