/// Why a `push.send` made no row, or not one for every device; or that a hook's run sent nothing, or came to no end.
public struct OutboxNote: Sendable, Hashable {
    public static let noToken = "no-token"
    public static let deduplicated = "deduplicated"
    public static let tooOld = "too-old"
    /// The recipient has turned pushes off; those of one type, where `: type` follows.
    public static let turnedOff = "turned-off"
    /// The recipient wants pushes of that type from those whom they follow, and does not follow the actor.
    public static let notFollowed = "not-followed"
    /// The same, while no follows are stored.
    public static let followsUnknown = "follows-unknown"
    /// What the reason of a hook's run begins with that came to its end and sent nothing: `silent: update`.
    public static let silent = "silent"

    /// Notes beyond the newest so many go with the next sweep, however young.
    public static let limit = 1_000_000

    public var uri: String
    public var hook: String
    /// The recipient; nil when it is about the hook.
    public var did: String?
    /// One of the words above, `silent: create`, or `refused: …`, `failed: …`.
    public var reason: String
    /// Milliseconds since 1970; set when it is written.
    public internal(set) var time: Int64 = 0

    /// The same as ISO 8601, UTC.
    public var timeText: String { Timestamp.text(time) }

    private static let maximumReason = 300

    /// `reason` is cut when it is long: it may be a hook's own error.
    public init(uri: String, hook: String, did: String?, reason: String) {
        self.uri = uri
        self.hook = hook
        self.did = did
        self.reason =
            reason.utf8.count <= Self.maximumReason
            ? reason : String(decoding: reason.utf8.prefix(Self.maximumReason), as: UTF8.self) + "…"
    }

    public init(_ origin: SendOrigin, did: String, reason: String) {
        self.init(uri: origin.uri, hook: origin.hook, did: did, reason: reason)
    }

    init(_ entry: OutboxEntry, _ reason: String) {
        self.init(uri: entry.uri, hook: entry.hook, did: entry.did, reason: reason)
    }
}

/// What the ends of hook jobs came to.
public struct OutboxWrites: Sendable, Hashable {
    /// Rows written: one a device.
    public var queued = 0
    /// Notifications whose recipient has no device.
    public var withoutToken = 0
    /// Notifications that some device had already.
    public var deduplicated = 0
    /// Notifications that their recipients' settings keep back: pushes, or those of that type, are off.
    public var turnedOff = 0
    /// The same: the recipient does not follow the actor, as far as is known.
    public var notFollowed = 0

    public init() {}

    /// Some notification made no row, or not one for every device.
    var haveNotes: Bool { withoutToken + deduplicated + turnedOff + notFollowed > 0 }

    public static func += (sum: inout OutboxWrites, other: OutboxWrites) {
        sum.queued += other.queued
        sum.withoutToken += other.withoutToken
        sum.deduplicated += other.deduplicated
        sum.turnedOff += other.turnedOff
        sum.notFollowed += other.notFollowed
    }
}

/// What a send is to become.
public enum OutboxDraft: Sendable {
    case entry(OutboxEntry)
    /// Nothing is queued; the note says why.
    case note(OutboxNote)
    /// Push is off.
    case nothing

    public var entry: OutboxEntry? {
        if case .entry(let entry) = self { entry } else { nil }
    }
}

extension Transaction {
    func write(_ note: OutboxNote, now: Int64) throws(StorageError) {
        let statement = try connection.statement(
            "INSERT INTO _push_notes (uri, hook, did, reason, at) VALUES (?, ?, ?, ?, ?)")
        statement.bind(1, note.uri)
        statement.bind(2, note.hook)
        statement.bind(3, note.did)
        statement.bind(4, note.reason)
        statement.bind(5, now)
        try statement.run()
    }
}
