import HookKit
import Net
import Storage

/// Delivers the outbox, and turns a hook's notifications into outbox entries. Thread-safe.
public final class PushService: Sendable {
    public init(database: Database, apns: APNsConfiguration, emit: Emit) throws { fatalError("stub") }

    /// Refuses, by name and through `emit`, what Apple would refuse (nil); else the entry to write.
    public func entry(for notification: Notification, origin: SendOrigin) -> OutboxEntry? { fatalError("stub") }

    public func start() { fatalError("stub") }
    /// New rows may be due. Never blocks.
    public func wake() { fatalError("stub") }
    /// Waits until no row is waiting or running. Gives up when nothing could be delivered for `giveUpAfter`
    /// (the gateway cannot be reached); returns how many rows are left.
    public func drain(giveUpAfter: Duration) async -> Int { fatalError("stub") }
    /// Stops claiming, lets what is in flight finish within `deadline`, records outcomes, closes.
    public func stop(deadline: Duration) async { fatalError("stub") }
    /// Since start.
    public var counts: PushCounts { fatalError("stub") }
}

/// Where a notification came from; with the token it makes the dedupe key.
public struct SendOrigin: Sendable, Hashable {
    public var hook: String
    public var uri: String
    public var rev: String
    /// 0 for the first `send` of a hook's run, 1 for the next, …
    public var place: Int
    public init(hook: String, uri: String, rev: String, place: Int) {
        self.hook = hook
        self.uri = uri
        self.rev = rev
        self.place = place
    }
}

public struct PushCounts: Sendable, Hashable {
    public var sent = 0
    /// Tokens removed.
    public var removed = 0
    /// Rows that ended dead, expired, or dropped with their token.
    public var failed = 0
    public var retried = 0
    public init() {}
}

/// Credentials and aim of the APNs channel. `description` shows no key.
public struct APNsConfiguration: Sendable {
    /// The `.p8`'s text.
    public var keyPEM: String
    public var keyID: String
    public var teamID: String
    public var bundleID: String
    /// For tests: a stand-in for both of Apple's gateways, and the roots to trust (PEM).
    public var standIn: Endpoint?
    public var caFile: String?
    public init(keyPEM: String, keyID: String, teamID: String, bundleID: String, standIn: Endpoint? = nil, caFile: String? = nil) {
        self.keyPEM = keyPEM
        self.keyID = keyID
        self.teamID = teamID
        self.bundleID = bundleID
        self.standIn = standIn
        self.caFile = caFile
    }
}
