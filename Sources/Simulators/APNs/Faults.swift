/// What the simulator is told to do wrong. Empty: it answers as Apple would.
///
/// From flags, each through `set`:
///
/// | flag | does |
/// |---|---|
/// | `--answer EFFECT[:CONDITION]…` | answers so wherever all conditions hold; repeatable, the first rule that holds wins |
/// | `--every N`, `--first K` … | the same conditions as flags, for the `--answer` before them |
/// | `--delay 50ms`, `--delay 20ms..80ms` | holds every answer back |
/// | `--goaway-after N` | says GOAWAY on each connection once N requests have come; later streams stay unprocessed |
/// | `--retry-after S` | sends `retry-after: S` with each 429 and 503 |
/// | `--error-body json\|empty\|html\|split` | the shape of an error's body |
/// | `--streams 1000,0@300,1000@300+200ms` | the limit on streams: after the first success, after so many requests, and so much later |
/// | `--seed N` | what percentages and delays are drawn from |
///
/// An effect is a status (`410`), a reason of Apple's (`BadDeviceToken`), or `refuse`, `reset`, `silent`, `abort`.
/// A condition is `25%`, `every=N` (requests), `first=K` (tries of each `apns-id`), `after=N` (requests), `nth=N` (request),
/// or `token=SUFFIX`.
public struct Faults: Sendable, Hashable {
    public var rules: [Rule] = []
    public var delay: ClosedRange<Duration>?
    /// Requests per connection before its GOAWAY.
    public var goAwayAfter: Int?
    /// Seconds.
    public var retryAfter: Int?
    public var errorBody: ErrorBody = .json
    public var streams: [StreamLimit] = []
    public var seed: UInt64 = 1

    public init() {}

    /// Takes one flag and its value. False when the flag is none of these.
    public mutating func set(_ flag: String, _ value: String) throws(FaultSyntaxError) -> Bool { fatalError("stub") }

    public struct Rule: Sendable, Hashable {
        public var effect: Effect
        public var conditions: [Condition]
        public init(_ effect: Effect, when conditions: [Condition] = []) {
            self.effect = effect
            self.conditions = conditions
        }
        /// From `EFFECT[:CONDITION]…`, as in `410:25%` or `ServiceUnavailable:every=7:first=2`.
        public init(_ text: String) throws(FaultSyntaxError) { fatalError("stub") }
    }

    public enum Effect: Sendable, Hashable {
        case answer(APNsReason)
        /// RST_STREAM with REFUSED_STREAM: surely not processed.
        case refuse
        /// RST_STREAM with INTERNAL_ERROR: nobody knows.
        case reset
        /// No answer, ever.
        case silent
        /// The socket is dropped without a word.
        case abort
    }

    public enum Condition: Sendable, Hashable {
        /// Of the tokens for reasons that are about a token, else of the tries.
        case percent(Double)
        /// Every Nth request.
        case every(Int)
        /// The first K tries of each `apns-id`.
        case first(Int)
        /// Not the first N requests.
        case after(Int)
        /// The Nth request alone.
        case nth(Int)
        /// Tokens that end so.
        case token(String)
    }

    public enum ErrorBody: String, Sendable, Hashable, CaseIterable {
        case json, empty, html, split
    }

    /// A change of MAX_CONCURRENT_STREAMS on each connection.
    public struct StreamLimit: Sendable, Hashable {
        public var count: UInt32
        /// After so many requests on the connection; 0: at the first success.
        public var afterRequests: Int
        public var delay: Duration
        public init(_ count: UInt32, afterRequests: Int = 0, delay: Duration = .zero) {
            self.count = count
            self.afterRequests = afterRequests
            self.delay = delay
        }
    }
}

/// What is wrong with a flag, in one line.
public struct FaultSyntaxError: Error, Hashable, CustomStringConvertible {
    public var description: String
    init(_ description: String) { self.description = description }
}
