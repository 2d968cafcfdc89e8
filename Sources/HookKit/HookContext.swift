import ATProto
import FoundationEssentials

/// What a hook is handed: the commit's op, the database and `push`.
public struct HookContext: Sendable {
    public let action: Action
    /// The NSID that matched.
    public let collection: String
    /// The record as the op wrote it; nil on delete.
    public let record: Value?
    /// DID of the committing actor.
    public let repo: String
    /// The record's AT-URI.
    public let uri: String
    public let rkey: String
    /// nil on delete.
    public let cid: String?
    public let rev: String
    /// When the source says the commit was made; the time of arrival when it does not say.
    public let time: Date
    /// False while backfilling, or catching up beyond the configured age.
    public let live: Bool
    public let db: any HookDatabase
    public let push: any Push

    public init(
        action: Action, collection: String, record: Value?, repo: String, uri: String, rkey: String, cid: String?,
        rev: String, time: Date, live: Bool, db: any HookDatabase, push: any Push
    ) {
        self.action = action
        self.collection = collection
        self.record = record
        self.repo = repo
        self.uri = uri
        self.rkey = rkey
        self.cid = cid
        self.rev = rev
        self.time = time
        self.live = live
        self.db = db
        self.push = push
    }

    /// The records of `collection` whose `field` is one of `values`, by that value; the newest where several match.
    ///
    /// `field` is `did`, `uri` or a top-level property of the lexicon (`subject`).
    public func lookup(_ collection: String, _ field: String, _ values: [String]) async throws -> [String: Value] {
        try await db.lookup(collection, field, values)
    }
}
