/// What a notification says to whom. One object for all its rows, which never changes.
public final class PushMessage: Sendable {
    /// The recipient.
    public let did: String
    /// The whole JSON payload, `aps` included.
    public let payload: [UInt8]
    public let collapseID: String?
    /// 10, 5 or 1.
    public let priority: Int
    /// `alert`, `background`, …
    public let pushType: String
    /// The provider is to try once and to keep nothing.
    public let isOnce: Bool
    /// How its badge is counted when it is sent, in the sender's own words; nil when it is not.
    public let badge: String?

    public init(
        did: String, payload: [UInt8], collapseID: String?, priority: Int, pushType: String, isOnce: Bool = false,
        badge: String? = nil
    ) {
        self.did = did
        self.payload = payload
        self.collapseID = collapseID
        self.priority = priority
        self.pushType = pushType
        self.isOnce = isOnce
        self.badge = badge
    }

    /// The same with another payload.
    public func with(payload: [UInt8]) -> PushMessage {
        PushMessage(
            did: did, payload: payload, collapseID: collapseID, priority: priority, pushType: pushType, isOnce: isOnce,
            badge: badge)
    }
}

/// Where a row goes: a registered device as it was when the row was handed out. Never changes, and never shows its token.
public final class PushDevice: Sendable {
    /// The token's id.
    public let id: Int64
    public let token: String
    public let platform: String
    /// `production` or `sandbox`.
    public let environment: String
    /// nil: the configured bundle id.
    public let topic: String?
    /// Milliseconds since 1970 of the token's last registration.
    public let registeredAt: Int64

    public init(
        id: Int64, token: String, platform: String, environment: String, topic: String?, registeredAt: Int64
    ) {
        self.id = id
        self.token = token
        self.platform = platform
        self.environment = environment
        self.topic = topic
        self.registeredAt = registeredAt
    }
}

/// An outbox row in the hands of who sends it.
public struct QueuedPush: Sendable {
    public let id: Int64
    public var message: PushMessage
    public let device: PushDevice
    /// Its `apns-id`, the same over all attempts.
    public let key: DedupeKey
    public let expiresAt: Int64
    /// Attempts before this one.
    public let attempts: Int

    public init(
        id: Int64, message: PushMessage, device: PushDevice, key: DedupeKey, expiresAt: Int64, attempts: Int
    ) {
        self.id = id
        self.message = message
        self.device = device
        self.key = key
        self.expiresAt = expiresAt
        self.attempts = attempts
    }
}
