/// A registered device. `description` shows the last 8 characters of the token alone.
public struct PushToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
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
    /// When the provider last refused a push for a fault of the token that does not mean its end, and the provider's
    /// word for it. A push that arrives, or registering again, takes both away.
    public var failedAt: String?
    public var failure: String?

    public var suffix: String { DeviceToken.suffix(of: token) }
    public var description: String { "…\(suffix)" }
    public var debugDescription: String { description }
    /// For `dump`, which would print the token whole.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "token": description]) }
}

/// What a device says of itself when it registers.
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
