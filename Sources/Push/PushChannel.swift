import Storage

/// A way to a kind of device. Confined to the loop.
protocol PushChannel: AnyObject {
    /// As tokens name it: `apns`.
    var platform: String { get }
    /// Takes a claimed row, which ends in exactly one call of its owner's `finished`.
    func send(_ push: QueuedPush)
    /// The rows that came together have all been given to `send`: begins to deliver them.
    func flush()
    /// Before this time (milliseconds since 1970) no row has a chance: nobody can be reached, or the key has stopped
    /// (`.max`). nil: rows are welcome.
    var closedUntil: Int64? { get }
    /// A key has stopped, and rows for it have gone back to the outbox.
    var keepsRowsBack: Bool { get }
    /// Rows that wait for the fate of others.
    var heldCount: Int { get }
    /// Nothing else is to be sent: decides over the rows that are held.
    func settleHeld()
    /// What it has open.
    var figures: ChannelFigures { get }
    /// Gives back what is not in flight, waits for what is, and closes.
    func close(deadline: Duration)
}

extension [any PushChannel] {
    /// Rows that wait for the fate of others.
    var heldCount: Int { reduce(0) { $0 + $1.heldCount } }

    /// When the first of them opens; nil when one is open.
    var closedUntil: Int64? {
        var earliest: Int64?
        for channel in self {
            guard let time = channel.closedUntil else { return nil }
            earliest = Swift.min(earliest ?? .max, time)
        }
        return earliest
    }
}

/// Who sends through channels. Called on the loop.
protocol PushChannelOwner: AnyObject {
    /// The end of a row's stay in the channel.
    func finished(_ end: PushEnd)
    /// A row waits for the fate of others.
    func heldBack()
    /// Somebody answered, whatever it was.
    func heard()
    /// A connection, or the key, is of no use: rows wait for something other than their own time.
    func troubled()
}

/// How a claimed row's stay in memory ended.
struct PushEnd {
    var settlement: PushSettlement
    /// The environments that the token was registered for, and that took the push, when they differ.
    var correction: (wrong: APNsEnvironment, right: APNsEnvironment)?

    /// - Parameter isTokensFault: the provider has found a fault with the token, which stays.
    init(_ push: QueuedPush, _ outcome: PushSettlement.Outcome, error: String? = nil, isTokensFault: Bool = false) {
        settlement = PushSettlement(id: push.id, tokenID: push.device.id, outcome: outcome, error: error)
        if isTokensFault { settlement.tokenFault = push.device.registeredAt }
    }
}
