/// One message of a source, decoded.
public enum Event: Sendable {
    case commit(Commit)
    case sync(Sync)
    case identity(IdentityUpdate)
    case account(AccountUpdate)
    /// A relay's `#info`, or an event kind that this version does not know.
    case info(name: String, message: String?)
    /// A relay's error frame (`op` -1): the stream ends after it.
    case error(name: String, message: String?)
}

/// A signed change to one repo: its ops in order, and those that had to be dropped.
public struct Commit: Sendable {
    public var repo: DID
    public var rev: TID
    /// The relay's sequence number; nil from a Jetstream.
    public var seq: Int64?
    /// Microseconds since 1970, as the source says it; nil when the source gave none.
    public var timeMicroseconds: Int64?
    /// Ops of kept collections, in commit order.
    public var ops: [RecordOp]
    /// Ops that could not be used, with the reason; their siblings stand.
    public var dropped: [DroppedOp]
    /// How many ops were of collections that nobody keeps.
    public var ignoredOps: Int

    public init(
        repo: DID, rev: TID, seq: Int64?, timeMicroseconds: Int64?, ops: [RecordOp], dropped: [DroppedOp],
        ignoredOps: Int
    ) {
        self.repo = repo
        self.rev = rev
        self.seq = seq
        self.timeMicroseconds = timeMicroseconds
        self.ops = ops
        self.dropped = dropped
        self.ignoredOps = ignoredOps
    }
}

/// What an op does to its record.
public enum Action: String, Sendable, Hashable {
    case create, update, delete
}

/// One create, update or delete inside a commit.
public struct RecordOp: Sendable {
    public var action: Action
    public var collection: NSID
    public var rkey: RecordKey
    /// nil on delete.
    public var cid: CID?
    /// nil on delete. Found by its CID and hashed against it.
    public var record: Value?

    public init(action: Action, collection: NSID, rkey: RecordKey, cid: CID?, record: Value?) {
        self.action = action
        self.collection = collection
        self.rkey = rkey
        self.cid = cid
        self.record = record
    }
}

public struct DroppedOp: Sendable {
    /// As the source wrote it: `collection/rkey`, perhaps malformed.
    public var path: String
    public var reason: DropReason
    public var message: String

    public init(path: String, reason: DropReason, message: String) {
        self.path = path
        self.reason = reason
        self.message = message
    }
}

/// Why one op of a readable event could not be used. Low-cardinality: it labels counters.
public enum DropReason: String, Sendable, Hashable, CaseIterable {
    case malformedOp = "malformed-op"
    case missingBlock = "missing-block"
    case cidMismatch = "cid-mismatch"
    case malformedRecord = "malformed-record"
    case oversizedRecord = "oversized-record"
}

public struct Sync: Sendable {
    public var repo: DID
    public var rev: TID
    public var seq: Int64?

    public init(repo: DID, rev: TID, seq: Int64?) {
        self.repo = repo
        self.rev = rev
        self.seq = seq
    }
}

public struct IdentityUpdate: Sendable {
    public var did: DID
    public var handle: Handle?
    public var seq: Int64?

    public init(did: DID, handle: Handle?, seq: Int64?) {
        self.did = did
        self.handle = handle
        self.seq = seq
    }
}

public struct AccountUpdate: Sendable {
    public var did: DID
    public var active: Bool
    /// `takendown`, `suspended`, `deleted`, `deactivated`, …; nil when active.
    public var status: String?
    public var seq: Int64?

    public init(did: DID, active: Bool, status: String?, seq: Int64?) {
        self.did = did
        self.active = active
        self.status = status
        self.seq = seq
    }
}
