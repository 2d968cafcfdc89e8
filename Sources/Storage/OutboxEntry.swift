/// One notification on its way into the outbox, before it is spread over the recipient's devices. It never changes, and is an
/// object so that handing it on costs next to nothing.
public final class OutboxEntry: Sendable {
    /// The recipient.
    public var did: String { message.did }
    public let hook: String
    public let uri: String
    public let rev: String
    /// The send's place in the hook's run: 0, 1, …
    public let place: Int
    /// When given, it stands for hook, uri, rev and place in telling whether a notification is the same.
    public let dedupeID: String?
    /// The notification's `data.type`, by which its recipient may have turned it off.
    public let type: String?
    /// What is sent.
    public let message: PushMessage
    /// Milliseconds since 1970 after which it is not to be delivered.
    public let expiresAt: Int64

    /// The parameters that are not kept here are those of `PushMessage`.
    public init(
        did: String, hook: String, uri: String, rev: String, place: Int, dedupeID: String? = nil, type: String? = nil,
        payload: [UInt8],
        collapseID: String?, priority: Int, pushType: String, expiresAt: Int64, isOnce: Bool = false,
        badge: String? = nil
    ) {
        self.hook = hook
        self.uri = uri
        self.rev = rev
        self.place = place
        self.dedupeID = dedupeID
        self.type = type
        self.expiresAt = expiresAt
        message = PushMessage(
            did: did, payload: payload, collapseID: collapseID, priority: priority, pushType: pushType, isOnce: isOnce,
            badge: badge)
    }
}

/// What became of one claimed row.
public struct PushSettlement: Sendable {
    public enum Outcome: Sendable, Hashable {
        case sent
        /// Due again at that time (milliseconds since 1970). `counted`: it was an attempt.
        case retry(at: Int64, counted: Bool)
        case dead
        case expired
        /// The token is dead: removed if it was last registered before that time (milliseconds since 1970), its waiting
        /// rows with it. A token registered since then stays, and the row alone is dead.
        case removeToken(registeredBefore: Int64)
    }
    public var id: Int64
    public var tokenID: Int64
    public var outcome: Outcome
    /// Apple's reason or ours; nil when sent.
    public var error: String?
    /// The provider holds `error` against the token, which stays: it is noted with the token, unless that was registered
    /// again since this time (milliseconds since 1970). nil: the token is not at fault.
    public var tokenFault: Int64?

    public init(id: Int64, tokenID: Int64, outcome: Outcome, error: String? = nil) {
        self.id = id
        self.tokenID = tokenID
        self.outcome = outcome
        self.error = error
    }
}

/// What settling made of rows and their tokens.
public struct SettledPushes: Sendable, Hashable {
    public var sent = 0
    /// Rows that ended dead or expired.
    public var failed = 0
    public var tokensRemoved = 0
    /// Rows that ended with their token, waiting ones included.
    public var dropped = 0
    /// The waiting ones of them.
    public var droppedWaiting = 0

    public init() {}
}

/// Rows of the outbox by state.
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

/// The states of an outbox row, as `_push_queue` names them.
enum PushState: String {
    case available
    /// Being sent; returns to `retry` when its lease ends.
    case running
    case retry
    case sent
    case dead
    case expired
    /// The token is gone.
    case removed
    /// Given up by an operator.
    case dropped
}
