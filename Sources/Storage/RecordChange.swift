import ATProto

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
    /// `table.columns(of:)` of the record; empty on delete.
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

/// What is written together: rows, hook jobs, repos, cursor.
public struct RecordBatch: Sendable {
    /// In order; ops of one repo in commit order.
    public var changes: [RecordChange] = []
    public var repos: [RepoUpdate] = []
    /// The source and how far it has been read with this batch.
    public var cursor: (source: String, position: Int64)?
    /// Milliseconds since 1970: `indexed_at` of the batch's rows.
    public var now: Int64 = 0

    public init() {}
}

/// What became of a batch.
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
