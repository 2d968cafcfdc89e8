import ATProto

/// One thing that a firehose sends in the evening, before it takes a form (Jetstream line, relay frame).
struct EveningEvent: Sendable {
    /// Its place in the recording, blank lines not counted; what `again` refers to.
    var index: Int
    /// Microseconds since 1970.
    var time: Int64
    /// The relay's sequence number.
    var seq: Int64
    var kind: Kind

    enum Kind: Sendable {
        case commit(EveningCommit)
        case identity(did: String, handle: String?)
        case account(did: String, status: String?)
        /// An earlier event, delivered again to the byte.
        case again(Int)
        /// A commit of which only rubbish arrives; its repo goes on as if it had never been.
        case broken(EveningCommit, Breakage)
        /// An empty line in the Jetstream form, nothing in the relay's.
        case blankLine
    }

    /// What is left of a broken event.
    enum Breakage: Sendable {
        /// Cut off in the middle.
        case truncated
        /// Bytes that are nothing at all.
        case garbage([UInt8])
    }
}

/// A change to one person's repo.
struct EveningCommit: Sendable {
    /// The place of the repo's owner in the cast.
    var author: Int
    var did: String
    var rev: TID
    var ops: [EveningOp]
}

/// One create, update or delete.
struct EveningOp: Sendable {
    var action: Action
    var collection: GrainCollection
    var rkey: String
    /// nil on delete.
    var record: Value?
    var fault: Fault? = nil

    /// What makes a record unusable.
    enum Fault: Sendable, Hashable {
        /// Well-formed, but not what its lexicon asks for.
        case invalid
        /// The bytes that arrive are not those of the CID.
        case otherContent
        /// `floatMarker` turns into a floating-point number.
        case float
        /// `brokenTextMarker` turns into half a surrogate pair.
        case loneSurrogate
        /// No record arrives.
        case missing
    }

    /// Where a record with the fault `float` has its float.
    static let floatMarker: Int64 = 1_234_567_890_123
    /// Where a record with the fault `loneSurrogate` has half a character.
    static let brokenTextMarker = "\u{fffd}"

    var path: String { "\(collection.rawValue)/\(rkey)" }
}

/// The collections that occur in the evening.
enum GrainCollection: String, Sendable, Hashable, CaseIterable {
    case gallery = "social.grain.gallery"
    case story = "social.grain.story"
    case profile = "social.grain.actor.profile"
    case favorite = "social.grain.favorite"
    case comment = "social.grain.comment"
    case follow = "social.grain.graph.follow"
    // Collections that grain's hooks do not keep.
    case photo = "social.grain.photo"
    case like = "app.bsky.feed.like"
    case post = "app.bsky.feed.post"

    /// True for the six that have lexicons in Hark's `Hooks/`.
    var isKept: Bool {
        switch self {
        case .gallery, .story, .profile, .favorite, .comment, .follow: true
        case .photo, .like, .post: false
        }
    }
}
