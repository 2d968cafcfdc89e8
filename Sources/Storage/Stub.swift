import ATProto

/// Hark's database: one file, one writer, several readers. All SQL lives in this target.
public final class Database: Sendable {
    /// Opens or creates the file, its system tables, and takes it for this process alone where `exclusive`.
    public init(path: String) throws(StorageError) { fatalError("stub") }

    /// Runs `body` on a reading connection, on the calling thread. Sees every transaction committed before the call.
    public func read<T>(_ body: (Connection) throws -> T) throws -> T { fatalError("stub") }

    /// Runs `body` in the writer's next transaction, which it may share with other bodies; returns once it is committed.
    /// A body that throws leaves nothing behind and does not disturb the others.
    public func write<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T { fatalError("stub") }

    /// The same, blocking the calling thread.
    public func writeBlocking<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) throws -> T { fatalError("stub") }

    /// The same with a callback, called on the writer's thread after the commit (or the failure). Never blocks.
    public func submit<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T,
        committed: @escaping @Sendable (Result<T, any Error>) -> Void
    ) { fatalError("stub") }

    /// Commits what was submitted, checkpoints and closes.
    public func close() { fatalError("stub") }
}

/// An error of SQLite's, with the statement it came from; never with bound values.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    public var code: Int32
    public var message: String
    public var sql: String?
    public init(code: Int32, message: String, sql: String? = nil) { self.code = code; self.message = message; self.sql = sql }
    public var description: String { "database: \(message)" }
}

/// One SQLite connection. Confined to one thread at a time.
public final class Connection {
    /// Runs one statement of a hook's; `$1`… are bound in order. Writing statements are refused on reading connections.
    public func query(_ sql: String, _ parameters: [ColumnValue]) throws -> (names: [String], rows: [[ColumnValue]]) { fatalError("stub") }

    /// The records of `collection` whose `field` (did, uri or a property) is one of `values`, by that value, newest where several match; values are the record's JSON.
    public func lookup(collection: String, field: String, values: [String]) throws -> [String: [UInt8]] { fatalError("stub") }

    public func tokens(did: String?) throws -> [PushToken] { fatalError("stub") }
    public func cursor(source: String) throws -> Int64? { fatalError("stub") }
    /// Rows of the outbox by state.
    public func outboxCounts() throws -> OutboxCounts { fatalError("stub") }
}

/// The writer's open transaction. Confined to the writer's thread, valid only inside the body it is handed to.
public final class Transaction {
    public var connection: Connection { fatalError("stub") }

    // Records
    public func apply(_ batch: RecordBatch) throws -> AppliedBatch { fatalError("stub") }

    // Hook jobs
    /// The jobs that an earlier process left, in order of arrival, after `id`.
    public func unfinishedJobs(after id: Int64, limit: Int) throws -> [HookJob] { fatalError("stub") }
    /// Ends a job: writes one outbox row per device of each notification's recipient (a row whose dedupe key is there already is left as it is)
    /// and removes the job. Returns how many rows were queued.
    public func finish(job id: Int64, notifications: [OutboxEntry], now: Int64) throws -> Int { fatalError("stub") }
    /// One writing statement of a hook's; returns the number of changed rows. Statements that would end the transaction or touch `_` tables are refused.
    public func run(_ sql: String, _ parameters: [ColumnValue]) throws -> Int { fatalError("stub") }

    // Tokens
    /// An upsert of (did, token): refreshes environment, topic, label, locale, lastSeenAt. Returns its id, which survives the upsert.
    public func register(_ token: NewPushToken, now: Int64) throws -> Int64 { fatalError("stub") }
    /// Removes and settles the token's queued rows as removed.
    public func removeToken(id: Int64, did: String?) throws -> Bool { fatalError("stub") }
    public func removeToken(did: String, token: String) throws -> Bool { fatalError("stub") }

    // Outbox
    /// Takes up to `limit` due rows for this worker until `leaseUntil`, in order of due time.
    public func claimPushes(limit: Int, now: Int64, leaseUntil: Int64) throws -> [QueuedPush] { fatalError("stub") }
    /// Records what became of claimed rows. A row that is no longer this lease's is left alone. Returns per row whether it was taken.
    public func settle(_ results: [PushSettlement], now: Int64) throws { fatalError("stub") }
    /// At start: rows left running by an ended process are due again.
    public func releaseLeases(now: Int64) throws -> Int { fatalError("stub") }
}

// MARK: Records

/// Which collections have tables, and with which columns. Thread-safe.
public final class RecordSchema: Sendable {
    /// `kept`: the collections of the configuration, lexicons' included.
    public init(lexicons: Lexicons, kept: CollectionFilter) { fatalError("stub") }
    /// The table of a kept collection (made on first use when no lexicon names it); nil when it is not kept.
    public func table(for collection: String) -> RecordTable? { fatalError("stub") }
    /// Creates missing tables and adds missing columns (back-filled from the JSON) for all collections with a lexicon.
    /// Returns a line for each property that could not get a column (name taken), for `emit`.
    public func migrate(_ database: Database) throws -> [String] { fatalError("stub") }
}

public final class RecordTable: Sendable {
    public let collection: String
    /// The table's name: the NSID, unless one that differs only in case was there first.
    public let name: String
    init() { fatalError("stub") }
    /// The values of the lexicon's columns for a record, in column order.
    public func columns(of record: Value) -> [ColumnValue] { fatalError("stub") }
}

/// One op, ready to be written: made on the decoding thread, so that the writer only binds.
public struct RecordChange: Sendable {
    public var action: Action
    public var table: RecordTable
    public var uri: String
    public var did: String
    public var rkey: String
    public var rev: String
    /// nil on delete.
    public var cid: String?
    /// The record as JSON; empty on delete.
    public var json: [UInt8]
    public var columns: [ColumnValue]
    /// Microseconds since 1970, for the hook.
    public var timeMicroseconds: Int64
    public var live: Bool
    /// Some hook wants this op: write a job with it.
    public var wanted: Bool

    public init(
        action: Action, table: RecordTable, uri: String, did: String, rkey: String, rev: String, cid: String?,
        json: [UInt8], columns: [ColumnValue], timeMicroseconds: Int64, live: Bool, wanted: Bool
    ) {
        self.action = action
        self.table = table
        self.uri = uri
        self.did = did
        self.rkey = rkey
        self.rev = rev
        self.cid = cid
        self.json = json
        self.columns = columns
        self.timeMicroseconds = timeMicroseconds
        self.live = live
        self.wanted = wanted
    }
}

/// What identity and account events say of a repo; nil leaves the stored value.
public struct RepoUpdate: Sendable {
    public var did: String
    public var handle: String?
    public var status: String?
    public init(did: String, handle: String? = nil, status: String? = nil) {
        self.did = did
        self.handle = handle
        self.status = status
    }
}

public struct RecordBatch: Sendable {
    public var changes: [RecordChange] = []
    public var repos: [RepoUpdate] = []
    /// The source and how far it has been read with this batch.
    public var cursor: (source: String, position: Int64)?
    /// Milliseconds since 1970: `indexed_at` of the batch's rows.
    public var now: Int64 = 0
    public init() {}
}

public struct AppliedBatch: Sendable {
    public var created = 0, updated = 0, deleted = 0
    /// Not newer than the row or than the record's deletion.
    public var stale = 0
    /// Deletes of records that were never there.
    public var unknownDeletes = 0
    /// One per applied and wanted op, in order.
    public var jobs: [HookJob] = []
    public init() {}
}

public struct HookJob: Sendable {
    public var id: Int64
    public var action: Action
    public var collection: String
    public var uri: String
    public var did: String
    public var rkey: String
    public var rev: String
    public var cid: String?
    /// The record as JSON; nil on delete.
    public var record: [UInt8]?
    public var timeMicroseconds: Int64
    public var live: Bool

    public init(
        id: Int64, action: Action, collection: String, uri: String, did: String, rkey: String, rev: String,
        cid: String?, record: [UInt8]?, timeMicroseconds: Int64, live: Bool
    ) {
        self.id = id
        self.action = action
        self.collection = collection
        self.uri = uri
        self.did = did
        self.rkey = rkey
        self.rev = rev
        self.cid = cid
        self.record = record
        self.timeMicroseconds = timeMicroseconds
        self.live = live
    }
}

// MARK: Tokens and outbox

/// A registered device. `description` shows the last 8 characters of the token alone.
public struct PushToken: Sendable, CustomStringConvertible {
    public var id: Int64
    public var did: String
    public var token: String
    public var platform: String
    /// `production` or `sandbox`.
    public var environment: String
    /// nil: the configured bundle id.
    public var topic: String?
    public var label: String?
    public var locale: String?
    /// ISO 8601 with milliseconds, UTC.
    public var createdAt: String
    public var lastSeenAt: String
    public var suffix: String { String(token.suffix(8)) }
    public var description: String { "…\(suffix)" }
}

public struct NewPushToken: Sendable {
    public var did: String
    public var token: String
    public var platform: String
    public var environment: String
    public var topic: String?
    public var label: String?
    public var locale: String?
    public init(
        did: String, token: String, platform: String, environment: String, topic: String? = nil,
        label: String? = nil, locale: String? = nil
    ) {
        self.did = did
        self.token = token
        self.platform = platform
        self.environment = environment
        self.topic = topic
        self.label = label
        self.locale = locale
    }
}

/// One notification on its way into the outbox, before it is spread over the recipient's devices.
public struct OutboxEntry: Sendable {
    /// The recipient.
    public var did: String
    public var hook: String
    public var uri: String
    public var rev: String
    /// The send's place in the hook's run: 0, 1, …
    public var place: Int
    /// The whole JSON payload, `aps` included.
    public var payload: [UInt8]
    public var collapseID: String?
    /// 10, 5 or 1.
    public var priority: Int
    /// `alert`, `background`, …
    public var pushType: String
    /// Milliseconds since 1970 after which it is not to be delivered.
    public var expiresAt: Int64

    public init(
        did: String, hook: String, uri: String, rev: String, place: Int, payload: [UInt8], collapseID: String?,
        priority: Int, pushType: String, expiresAt: Int64
    ) {
        self.did = did
        self.hook = hook
        self.uri = uri
        self.rev = rev
        self.place = place
        self.payload = payload
        self.collapseID = collapseID
        self.priority = priority
        self.pushType = pushType
        self.expiresAt = expiresAt
    }
}

/// A claimed outbox row, with its device.
public struct QueuedPush: Sendable {
    public var id: Int64
    public var did: String
    public var tokenID: Int64
    public var token: String
    public var platform: String
    public var environment: String
    public var topic: String?
    /// Milliseconds since 1970 of the token's last registration.
    public var registeredAt: Int64
    /// A lowercase UUID, the same over all attempts.
    public var apnsID: String
    public var payload: [UInt8]
    public var collapseID: String?
    public var priority: Int
    public var pushType: String
    public var expiresAt: Int64
    /// Attempts before this one.
    public var attempts: Int
}

/// What became of one claimed row.
public struct PushSettlement: Sendable {
    public enum Outcome: Sendable, Hashable {
        case sent
        /// Due again at that time (milliseconds since 1970). `counted`: it was an attempt.
        case retry(at: Int64, counted: Bool)
        case dead
        case expired
        /// The token is dead: removed if it was last registered before that time (milliseconds since 1970), its queued rows with it.
        case removeToken(registeredBefore: Int64)
    }
    public var id: Int64
    public var tokenID: Int64
    public var outcome: Outcome
    /// Apple's reason or ours; nil when sent.
    public var error: String?
    public init(id: Int64, tokenID: Int64, outcome: Outcome, error: String? = nil) {
        self.id = id
        self.tokenID = tokenID
        self.outcome = outcome
        self.error = error
    }
}

public struct OutboxCounts: Sendable, Hashable {
    /// Available or waiting for a retry.
    public var waiting = 0
    public var running = 0
    public var sent = 0
    /// Dead, expired or removed with their token.
    public var failed = 0
    /// The earliest due time among the waiting (milliseconds since 1970).
    public var nextDue: Int64?
    public init() {}
}
