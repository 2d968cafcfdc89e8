import ATProto
import HookKit
import Storage
import Synchronization
import TestSupport

@testable import Indexer

/// A real database with one lexicon, and hooks that note what they saw.
final class Stage: Sendable {
    private struct Seen {
        var byRepo: [String: [String]] = [:]
        var emitted: [String] = []
        var committed = 0
    }

    let scratch: ScratchFolder
    let database: Database
    private let schema: RecordSchema
    private let lexicons: Lexicons
    private let kept = CollectionFilter(["com.example.post"])
    private let state = Mutex(Seen())

    init() throws {
        scratch = try ScratchFolder()
        database = try Database(path: scratch.path + "/hark.db")
        lexicons = Lexicons([
            try Lexicon(
                json: Array(
                    """
                    {"lexicon": 1, "id": "com.example.post", "defs": {"main": {"type": "record", "key": "any",
                     "record": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}}}}
                    """.utf8))
        ])
        schema = RecordSchema(lexicons: lexicons, kept: kept)
        _ = try schema.migrate(database)
    }

    /// Notes every op it is handed.
    var recorder: Hook {
        defineHook(.onCommit(collections: []), name: "recorder") { [self] context in
            state.withLock { $0.byRepo[context.repo, default: []].append("\(context.action) \(context.uri)") }
        }
    }

    func seen(by did: String) -> [String] { state.withLock { $0.byRepo[did] ?? [] } }
    var emitted: [String] { state.withLock { $0.emitted } }
    var committed: Int { state.withLock { $0.committed } }

    struct Post: Equatable {
        var rkey, record, text: String?
    }

    func rows() throws -> [Post] {
        let result = try database.read {
            try $0.query(#"SELECT rkey, record, text FROM "com.example.post" ORDER BY uri"#, [])
        }
        return result.rows.map { Post(rkey: $0[0].string, record: $0[1].string, text: $0[2].string) }
    }

    func indexer(hooks: [Hook], timeout: Duration = .seconds(30)) throws -> Indexer {
        var options = Indexer.Options()
        options.hookTimeout = timeout
        options.batchOps = 7
        let outbox = NotificationOutbox { notification, origin in
            .entry(
                OutboxEntry(
                    did: notification.did, hook: origin.hook, uri: origin.uri, rev: origin.rev, place: origin.place,
                    payload: Array(notification.body.utf8), collapseID: nil, priority: 10, pushType: "alert",
                    expiresAt: .max))
        } committed: { [self] writes in
            state.withLock { $0.committed += writes.queued }
        }
        return Indexer(
            database: database, schema: schema, lexicons: lexicons, kept: kept, hooks: hooks, options: options,
            outbox: outbox,
            emit: Emit { [self] module, op, fields in
                let line = "\(module) \(op) " + fields.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
                state.withLock { $0.emitted.append(line) }
            })
    }

    func replay(_ story: JetstreamWriter, hooks: [Hook], timeout: Duration = .seconds(30)) async throws
        -> IndexSummary
    {
        _ = try await database.write {
            try $0.register(
                NewPushToken(did: JetstreamWriter.did("bob"), token: "00", platform: "apns", environment: "sandbox"),
                now: 1)
        }
        let indexer = try indexer(hooks: hooks, timeout: timeout)
        try await indexer.replay(try Recording(path: scratch.file("story.jsonl", story.text.utf8)))
        try await indexer.drainHooks()
        return indexer.summary
    }

    func replayWithoutDraining(_ story: JetstreamWriter, hooks: [Hook]) async throws {
        try await indexer(hooks: hooks).replay(try Recording(path: scratch.file("story.jsonl", story.text.utf8)))
    }
}
