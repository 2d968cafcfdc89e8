import ATProto

/// One op, ready to be written: laid out on the decoding thread, so that the writer only binds.
public struct RecordChange: Sendable {
    public let action: Action
    public let table: RecordTable
    /// Microseconds since 1970, for the hook.
    public let timeMicroseconds: Int64
    public let live: Bool
    /// Some hook wants this op: write a job with it.
    public let wanted: Bool
    let row: RowImage

    /// - Parameters:
    ///   - cid: nil on delete.
    ///   - json: the record as JSON; empty on delete.
    ///   - columns: `table.columns(of:)` of the record; empty on delete.
    public init(
        action: Action, table: RecordTable, did: String, rkey: String, rev: String, cid: String?, json: [UInt8],
        columns: [ColumnValue], timeMicroseconds: Int64, live: Bool, wanted: Bool
    ) {
        self.action = action
        self.table = table
        self.timeMicroseconds = timeMicroseconds
        self.live = live
        self.wanted = wanted
        row = RowImage(
            collection: table.collection, did: did, rkey: rkey, rev: rev, cid: cid, json: json, columns: columns)
    }

    public var uri: String { row.text(row.uri) }
    var did: String { row.text(row.did) }
    var rkey: String { row.text(row.rkey) }
    var rev: String { row.text(row.rev) }
    var cid: String? { row.cid.isEmpty ? nil : row.text(row.cid) }
    var json: [UInt8] { Array(row.bytes[row.json]) }
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
