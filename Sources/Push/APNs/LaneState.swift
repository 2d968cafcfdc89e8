/// How far one connection may be used. Pure; times are milliseconds since 1970.
///
/// connecting → open (one stream until the first success, then what the peer allows) → retiring (no new streams).
struct LaneState: Hashable {
    enum Phase: Hashable { case connecting, open, retiring }

    /// Far below the 2³⁰ requests that a connection has stream ids for.
    static let maximumRequests = 1 << 28

    private(set) var phase = Phase.connecting
    private(set) var inFlight = 0
    /// Something was answered: the peer is alive and speaks APNs.
    private(set) var hasAnswered = false
    /// A push has succeeded: Apple takes more than one stream now.
    private(set) var isProven = false
    /// A stream ran into its deadline, and nothing was answered since: the peer may be gone.
    private(set) var isSilent = false
    private var requests = 0
    private(set) var successes = 0
    /// Streams at once. After a loss it grows by one a success, so that the next loss costs little.
    private var window: Int
    /// Successes before which the window stays narrow.
    private let caution: Int
    private var pausedUntil: Int64 = 0

    /// - Parameter caution: how many pushes had succeeded on the connection that was lost with streams in flight; nil
    ///   when none was. Up to there the window stays below an eighth of it: a peer that breaks every connection after
    ///   so many takes few streams along.
    init(caution: Int?) {
        self.caution = caution ?? 0
        window = caution == nil ? .max : 1
    }

    /// How many more streams to open, when the peer allows `room` more.
    func allowance(room: Int, now: Int64) -> Int {
        guard phase == .open, !isSilent, now >= pausedUntil else { return 0 }
        guard isProven else { return inFlight == 0 ? min(room, 1) : 0 }
        return max(min(room, window - inFlight), 0)
    }

    /// Whether more may fit soon: then no further connection is needed yet.
    var isWarmingUp: Bool { phase == .connecting || phase == .open && !isProven && !isSilent && pausedUntil == 0 }
    var hasGrown: Bool { window >= 1000 }
    /// Nothing more will come of it.
    var isSpent: Bool { inFlight == 0 && (phase == .retiring || isSilent) }

    mutating func opened() {
        if phase == .connecting { phase = .open }
    }

    mutating func retire() { phase = .retiring }

    mutating func pause(until time: Int64) { pausedUntil = max(pausedUntil, time) }

    mutating func sent() {
        inFlight += 1
        requests += 1
        if requests >= Self.maximumRequests { phase = .retiring }
    }

    mutating func answered(success: Bool) {
        inFlight -= 1
        hasAnswered = true
        isSilent = false
        guard success else { return }
        isProven = true
        successes += 1
        if window < .max, successes > caution || window < caution / 8 { window += 1 }
    }

    mutating func timedOut() {
        inFlight -= 1
        isSilent = true
    }

    mutating func failed() { inFlight -= 1 }
}
