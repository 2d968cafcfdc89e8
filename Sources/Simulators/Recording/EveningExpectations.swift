import ATProto

/// What an evening must lead to: the pushes, the records that stand at its end, and what must be skipped.
///
/// A small model of its own, which knows nothing of Hark's indexer or hooks: it reads the events one by one, with
/// nothing but a dictionary of records, and applies what grain's notifications mean.
public struct EveningExpectations: Sendable {
    /// One each time somebody must be told, in the order of events; to every device of the recipient.
    public internal(set) var pushes: [ExpectedPush] = []
    /// The records of grain's six collections: by collection, then by AT-URI.
    public internal(set) var records: [String: [String: Value]] = [:]
    /// Ops that had an effect, in those collections.
    public internal(set) var created = 0
    public internal(set) var updated = 0
    public internal(set) var deleted = 0
    /// Ops that had none, as they were not newer than what stood.
    public internal(set) var stale = 0
    /// Deletes of what was never there.
    public internal(set) var unknownDeletes = 0
    /// Records that their lexicons refuse.
    public internal(set) var invalidRecords = 0
    /// Records dropped, by what is wrong with their bytes.
    public internal(set) var faultyRecords = 0
    /// Ops of collections without a lexicon.
    public internal(set) var ignoredOps = 0
    /// Lines or frames of which nothing can be read.
    public internal(set) var unreadable = 0
    /// Commits that can be read, redelivered ones included.
    public internal(set) var commits = 0
    public internal(set) var identities = 0
    public internal(set) var accounts = 0
    /// Ops of all commits: each is a line of its own in a Jetstream.
    public internal(set) var ops = 0
    public internal(set) var redelivered = 0
    public internal(set) var blankLines = 0

    private var rows: [String: Row] = [:]
    private var recent = RecentEvents<EveningCommit>()

    /// A record, or where one has been.
    private struct Row: Sendable {
        var rev: TID
        /// nil once deleted.
        var record: Value?
    }

    /// Where pushes look up what stands, instead of among the records so far.
    private var hindsight: [String: Row]?

    /// What `events` lead to.
    init(_ events: some Sequence<EveningEvent>) {
        for event in events { take(event) }
    }

    /// The same, with every record that will ever stand in its place from the start, as a reader with one huge batch
    /// would see it. An evening is unambiguous when this makes no difference.
    init(inHindsight events: some Sequence<EveningEvent>) {
        hindsight = EveningExpectations(events).rows
        for event in events { take(event) }
    }

    /// The pushes on each device of `devices` that is alive.
    public func deliveries(to devices: [EveningDevice]) -> [ExpectedDelivery] {
        let tokens = Dictionary(grouping: devices.filter { $0.deadAnswer == nil }, by: \.did)
        return pushes.flatMap { push in
            (tokens[push.recipient] ?? []).map { ExpectedDelivery(token: $0.token, push: push) }
        }
    }

    /// The dead devices that are found out, since somebody tells their owners something.
    public func removedDevices(of devices: [EveningDevice]) -> [EveningDevice] {
        let recipients = Set(pushes.map(\.recipient))
        return devices.filter { $0.deadAnswer != nil && recipients.contains($0.did) }
    }

    private mutating func take(_ event: EveningEvent) {
        switch event.kind {
        case .commit(let commit):
            recent.keep(commit, of: event)
            apply(commit)
        case .again(let index):
            redelivered += 1
            if let commit = recent[index] { apply(commit) }
        case .identity: identities += 1
        case .account: accounts += 1
        case .broken: unreadable += 1
        case .blankLine: blankLines += 1
        }
    }

    private mutating func apply(_ commit: EveningCommit) {
        commits += 1
        ops += commit.ops.count
        for op in commit.ops { apply(op, of: commit) }
    }

    private mutating func apply(_ op: EveningOp, of commit: EveningCommit) {
        guard op.collection.isKept else { return ignoredOps += 1 }
        switch op.fault {
        case nil: break
        case .invalid: return invalidRecords += 1
        default: return faultyRecords += 1
        }
        let uri = "at://\(commit.did)/\(op.path)"
        if let row = rows[uri], row.rev >= commit.rev { return stale += 1 }
        let stood = rows[uri]?.record != nil
        rows[uri] = Row(rev: commit.rev, record: op.record)
        records[op.collection.rawValue, default: [:]][uri] = op.record
        switch op.action {
        case .create:
            created += 1
            if let record = op.record { notify(op.collection, record, by: commit.did) }
        case .update: updated += 1
        case .delete where stood: deleted += 1
        case .delete: unknownDeletes += 1
        }
    }

    // MARK: Who is told what

    private var visible: [String: Row] { hindsight ?? rows }

    private mutating func notify(_ collection: GrainCollection, _ record: Value, by actor: String) {
        guard let subject = record["subject"]?.string else { return }
        switch collection {
        case .favorite: notifyOfFavorite(subject, by: actor)
        case .comment: notifyOfComment(subject, replyTo: record["replyTo"]?.string, by: actor)
        case .follow where subject != actor:
            tell(subject, "New follower", "followed you", ["type": "follow", "did": actor], by: actor)
        default: break
        }
    }

    private mutating func notifyOfFavorite(_ subject: String, by actor: String) {
        guard let (author, kind) = standing(subject), author != actor else { return }
        tell(
            author, "New favorite", "favorited your \(kind)", ["type": "\(kind)-favorite", "uri": subject], by: actor)
    }

    private mutating func notifyOfComment(_ subject: String, replyTo parent: String?, by actor: String) {
        guard let (author, kind) = standing(subject), kind != "comment" else { return }
        var told: String?
        if let parent, case (let parentAuthor, "comment")? = standing(parent) {
            told = parentAuthor
            if parentAuthor != actor {
                tell(
                    parentAuthor, "New reply", "replied to your comment", ["type": "comment-reply", "uri": subject],
                    by: actor)
            }
        }
        if author != actor, author != told {
            tell(
                author, "New comment", "commented on your \(kind)", ["type": "\(kind)-comment", "uri": subject],
                by: actor)
        }
    }

    private mutating func tell(
        _ recipient: String, _ title: String, _ deed: String, _ data: [String: String], by actor: String
    ) {
        let profile = visible["at://\(actor)/\(GrainCollection.profile.rawValue)/self"]?.record
        let name = profile?["displayName"]?.string ?? "Someone"
        pushes.append(ExpectedPush(recipient: recipient, title: title, body: "\(name) \(deed)", data: data))
    }

    /// Whose record it is, and of which kind; nil when nothing that can be reacted to stands there.
    private func standing(_ uri: String) -> (author: String, kind: String)? {
        let parts = uri.split(separator: "/", omittingEmptySubsequences: false)
        guard visible[uri]?.record != nil, parts.count == 5 else { return nil }
        switch GrainCollection(rawValue: String(parts[3])) {
        case .gallery: return (String(parts[2]), "gallery")
        case .story: return (String(parts[2]), "story")
        case .comment: return (String(parts[2]), "comment")
        default: return nil
        }
    }
}
