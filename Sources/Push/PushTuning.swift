import Net
import Storage

/// The bounds of delivery. The defaults are for production.
public struct PushTuning: Sendable {
    /// Rows held in memory at most, in flight or waiting for a connection.
    public var maximumInFlight = 4000
    /// Rows claimed in one transaction at most.
    public var claimBatch = 1000
    /// Connections per channel and environment at most. Those that take no new requests any more may end beside them,
    /// as many again at most.
    public var maximumConnections = 4
    /// Deadlines of connecting and of the TLS handshake, and when silence makes a PING go out.
    public var connection = HTTP2ClientConnection.Options()
    /// Between attempts at a row, and between attempts to connect.
    public var backoff = Backoff()
    /// Counted attempts at a row before it is dead.
    public var maximumAttempts = 10
    /// A stream without an answer is given up after this.
    public var requestTimeout = Duration.seconds(30)
    /// Rows that cannot even be sent go back to the outbox after this.
    public var stallTimeout = Duration.seconds(30)
    /// How often a row goes out again, with the same `apns-id`, after a connection was lost with it in flight.
    ///
    /// It may have been delivered: a rare double is better than a notification that is lost.
    public var resendsAfterLoss = 5
    /// How often a row goes out again, with the same `apns-id`, after its answer did not come in time.
    public var resendsAfterTimeout = 1
    /// So many distinct tokens in a row that Apple calls bad, before any success, stop the key.
    public var badTokensBeforeSuccess = 20
    /// The same, counted from the last success.
    public var badTokensSinceSuccess = 100
    /// How long a claimed row is this process's, and longer while it has any. Far beyond what most rows spend in memory.
    public var lease = Duration.seconds(1800)
    /// A notification that could not be delivered for so long is dropped.
    public var lifetime = Duration.seconds(86_400)
    /// A notification of an older event queues nothing; nil: whatever the event's age.
    public var maximumAge: Duration?
    /// How long ended rows, and the notes on what made none, are kept.
    public var retention = Duration.seconds(7 * 86_400)
    /// Every payload says whose it is, for apps in which a device has several accounts.
    public var namesRecipient = true
    /// What says who follows whom, for those who want to hear of people whom they follow alone.
    public var follows = FollowRecords.grain
    /// How often to look for rows that another process has made due; nil: never.
    public var lookInterval: Duration?

    public init() {}
}
