import Net

/// One connection of a pool, and how far it may be used. Confined to the loop.
final class APNsLane {
    /// Holds it until its connection has ended, and is held by it as long.
    let pool: APNsConnectionPool
    var connection: HTTP2ClientConnection?
    var state: LaneState
    /// Streams lost without a word of their own.
    var ambiguous = 0

    init(_ pool: APNsConnectionPool, caution: Int?) {
        self.pool = pool
        state = LaneState(caution: caution)
    }
}
