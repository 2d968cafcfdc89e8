/// What became of the outbox since the service started.
public struct PushCounts: Sendable, Hashable {
    public var sent = 0
    /// Tokens removed.
    public var removed = 0
    /// Rows that ended with their token.
    public var dropped = 0
    /// Rows that ended dead or expired.
    public var failed = 0
    /// Attempts that will be repeated.
    public var retried = 0

    public init() {}
}
