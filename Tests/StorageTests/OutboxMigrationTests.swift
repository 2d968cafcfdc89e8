import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000

/// Databases of earlier versions, their tables as those made them.
@Suite struct OutboxMigrationTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Puts the outbox of `version` in the place of today's, with a row in each state.
    private func makeOlder(_ version: Int) throws {
        let database = try scratch.open()
        _ = try database.writeBlocking { transaction in
            for token in ["one", "two"] {
                _ = try transaction.register(
                    NewPushToken(did: "did:a", token: token, platform: "apns", environment: "sandbox"), now: now)
            }
        }
        database.close()
        let raw = try Connection(path: scratch.path, role: .writer)
        defer { raw.close() }
        let added = version > 1 ? ", is_once INTEGER, badge TEXT" : ""
        let tokens =
            version > 2
            ? ""
            : """
            DROP INDEX _push_tokens_failed; ALTER TABLE _push_tokens DROP COLUMN failedAt;
            ALTER TABLE _push_tokens DROP COLUMN failure; DROP TABLE _push_settings;
            """
        let values = version > 1 ? ", 1, 'b'" : ""
        try raw.execute(
            """
            DROP TABLE _push_queue; DROP TABLE _push_messages; DROP TABLE _push_leases; DROP TABLE _push_notes;
            \(tokens)
            CREATE TABLE _push_queue (
                id INTEGER PRIMARY KEY, dedupe_key BLOB NOT NULL UNIQUE, state TEXT NOT NULL, did TEXT NOT NULL,
                token_id INTEGER NOT NULL, hook TEXT NOT NULL, uri TEXT NOT NULL, rev TEXT NOT NULL,
                payload TEXT NOT NULL, collapse_id TEXT, priority INTEGER NOT NULL, push_type TEXT NOT NULL,
                attempts INTEGER NOT NULL, next_attempt_at INTEGER, lease_until INTEGER, created_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL, sent_at INTEGER, failed_at INTEGER, last_error TEXT\(added));
            CREATE INDEX _push_queue_due ON _push_queue (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_queue_waiting ON _push_queue (token_id) WHERE next_attempt_at IS NOT NULL;
            CREATE INDEX _push_queue_running ON _push_queue (lease_until) WHERE lease_until IS NOT NULL;
            CREATE INDEX _push_queue_dead ON _push_queue (id) WHERE state = 'dead';
            PRAGMA user_version = \(version);
            """)
        let rows: [(String, String, String, String, String)] = [
            ("available", "\(now)", "NULL", "NULL", "NULL"), ("running", "NULL", "\(now + 50)", "NULL", "NULL"),
            ("retry", "\(now + 10)", "NULL", "NULL", "NULL"), ("sent", "NULL", "NULL", "\(now)", "NULL"),
            ("dead", "NULL", "NULL", "NULL", "\(now)"),
        ]
        for (number, row) in rows.enumerated() {
            try raw.execute(
                """
                INSERT INTO _push_queue VALUES (NULL, zeroblob(15) || x'0\(number)', '\(row.0)', 'did:a', 2, 'hook',
                    'at://x/y.z/\(number)', 'r', '{}', 'c', 5, 'alert', \(number), \(row.1), \(row.2), \(now),
                    \(now + 9000), \(row.3), \(row.4), NULL\(values))
                """)
        }
    }

    @Test(arguments: [1, 2, 3]) func bringsOlderTablesUpToDate(_ version: Int) throws {
        try makeOlder(version)
        let database = try scratch.open()
        defer { database.close() }
        #expect(try database.read { try $0.prepare("PRAGMA user_version").first { $0.integer(0) } } == 4)
        #expect(try database.read { try $0.tokens(did: nil) }.map(\.failure) == [nil, nil])
        #expect(try database.writeBlocking { try $0.changePushSettings(did: "did:b", push: false) }.push == false)
        let rows = try database.read { try $0.outboxRows(limit: 9) }.reversed()
        #expect(rows.map(\.state) == ["available", "running", "retry", "sent", "dead"])
        #expect(rows.map(\.uri) == (0..<5).map { "at://x/y.z/\($0)" } && rows.map(\.attempts) == [0, 1, 2, 3, 4])
        #expect(rows.map(\.apnsID).allSatisfy { $0.hasPrefix("00000000-0000-8000-8000-00000000000") })
        let counts = try database.read { try $0.outboxCounts() }
        #expect(counts.waiting == 2 && counts.running == 1)
        // The lease holds, and ends.
        func claim(at time: Int64) throws -> [QueuedPush] {
            try database.writeBlocking { try $0.claimPushes(limit: 9, now: time, leaseUntil: time + 500).pushes }
        }
        let first = try claim(at: now + 10)
        #expect(first.map(\.id) == [1, 3])
        #expect(try claim(at: now + 50).map(\.id) == [2])
        #expect(
            first.allSatisfy { $0.message.collapseID == "c" && $0.message.priority == 5 && $0.device.token == "two" })
        #expect(
            first.allSatisfy { $0.message.isOnce == (version > 1) && $0.message.badge == (version > 1 ? "b" : nil) })
        // What is new has an id of its own, and a message of its own.
        let entry = OutboxEntry(
            did: "did:a", hook: "hook", uri: "at://x/y.z/new", rev: "r", place: 0, payload: Array("{}".utf8),
            collapseID: nil, priority: 10, pushType: "alert", expiresAt: now + 1000)
        #expect(try database.writeBlocking { try $0.finish(job: 1, notifications: [entry], now: now) }.queued == 2)
        #expect(try database.read { try $0.outboxRows(uri: "at://x/y.z/new", limit: 9) }.map(\.id) == [7, 6])
    }
}
