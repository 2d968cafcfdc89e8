/// What a channel has open at the moment, and how often it has renewed its credentials.
public struct ChannelFigures: Sendable, Hashable {
    /// As tokens name it: `apns`.
    public var channel: String
    /// Connections, those included that are being opened.
    public var connections = 0
    /// Requests without an answer.
    public var streams = 0
    /// Provider tokens made since start beyond the first: renewed, or signed by a new key.
    public var tokenRenewals = 0

    public init(channel: String) { self.channel = channel }
}
