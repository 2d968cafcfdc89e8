/// What the simulator is told to do wrong. Empty: it answers as Apple would.
///
/// | flag | does |
/// |---|---|
/// | `--answer EFFECT[:CONDITION]…` | does so wherever all conditions hold; repeatable, the first rule that holds wins |
/// | `--every N`, `--first N`, `--after N`, `--nth N`, `--token SUFFIX` | a condition of the `--answer` before it |
/// | `--delay 50ms`, `--delay 20ms..80ms` | holds every answer back |
/// | `--goaway-after N`, `--goaway-after N:CODE` | says GOAWAY (with an error code of RFC 9113) on each connection after N |
/// | | requests; what it sends later stays unprocessed, and the socket stays open |
/// | `--retry-after S` | sends `retry-after: S` (seconds) with each 429 and 503 |
/// | `--error-body json`, `empty`, `html`, `split` | the shape of an error's body; `split`: 5 bytes a DATA frame |
/// | `--streams 1000,0@300,1000@300+200ms` | the limits on a connection's streams: at the first success, after N requests, later |
/// | `--handshake silent` | accepts TCP and never says a word |
/// | `--windows shut` | never opens a flow-control window again |
/// | `--seed N` | what percentages and delays are drawn from |
///
/// An effect is a status (`410`), a reason of Apple's (`BadDeviceToken`), or `refuse`, `reset`, `silent`, `freeze`, `abort`.
/// A condition is `25%`, `every=N`, `first=N`, `after=N`, `nth=N` or `token=SUFFIX`. So `--answer 503:every=7` and
/// `--answer 503 --every 7` are the same. Only requests that Apple would accept count and can meet a fault.
public struct Faults: Sendable, Hashable {
    public var rules: [Rule] = []
    public var delay: ClosedRange<Duration>?
    public var goAway: GoAway?
    public var retryAfterSeconds: Int?
    public var errorBody: ErrorBody = .json
    public var streams: [StreamLimit] = []
    public var handshake = Handshake.normal
    public var windows = Windows.open
    public var seed: UInt64 = 1

    public init() {}

    public struct Rule: Sendable, Hashable {
        public var effect: Effect
        /// All must hold.
        public var conditions: [Condition]

        public init(_ effect: Effect, when conditions: [Condition] = []) {
            self.effect = effect
            self.conditions = conditions
        }
    }

    public enum Effect: Sendable, Hashable {
        case answer(APNsReason)
        /// A status that Apple does not use, 400 to 599, without a reason.
        case status(Int)
        /// RST_STREAM with REFUSED_STREAM: surely not processed.
        case refuse
        /// RST_STREAM with INTERNAL_ERROR: nobody can know.
        case reset
        /// No answer, ever.
        case silent
        /// From then on the connection neither reads nor writes, and stays open: a half-open one.
        case freeze
        /// The socket is dropped without a word.
        case abort
    }

    public enum Condition: Sendable, Hashable {
        /// Of the tokens when the effect's reason is about the token, otherwise of the tries.
        case percent(Double)
        /// Every Nth request.
        case every(Int)
        /// The first N tries of each `apns-id`.
        case first(Int)
        /// All requests but the first N.
        case after(Int)
        /// The Nth request alone.
        case nth(Int)
        /// Tokens that end so (in lower case).
        case token(String)
    }

    public enum ErrorBody: String, Sendable, Hashable, CaseIterable {
        case json, empty, html, split
    }

    /// When a connection is told to go, and why.
    public struct GoAway: Sendable, Hashable {
        /// On that connection.
        public var afterRequests: Int
        /// Of RFC 9113, section 7; 0 is NO_ERROR.
        public var errorCode: UInt32

        public init(afterRequests: Int, errorCode: UInt32 = 0) {
            self.afterRequests = afterRequests
            self.errorCode = errorCode
        }
    }

    public enum Handshake: String, Sendable, Hashable, CaseIterable { case normal, silent }

    public enum Windows: String, Sendable, Hashable, CaseIterable { case open, shut }

    /// A change of a connection's MAX_CONCURRENT_STREAMS.
    public struct StreamLimit: Sendable, Hashable {
        public var count: UInt32
        /// Requests on the connection after which it comes; 0: with the first success.
        public var afterRequests: Int
        /// How long after that.
        public var delay: Duration

        public init(_ count: UInt32, afterRequests: Int = 0, delay: Duration = .zero) {
            self.count = count
            self.afterRequests = afterRequests
            self.delay = delay
        }
    }
}

extension Faults.Effect {
    /// Of its answer, if it is one.
    var status: Int? {
        switch self {
        case .answer(let reason): reason.status
        case .status(let status): status
        case .refuse, .reset, .silent, .freeze, .abort: nil
        }
    }

    /// The reason to record.
    var label: String {
        switch self {
        case .answer(let reason): reason.rawValue
        case .status(let status): "Status\(status)"
        case .refuse: "Refused"
        case .reset: "Reset"
        case .silent: "Silent"
        case .freeze: "Frozen"
        case .abort: "Aborted"
        }
    }
}
