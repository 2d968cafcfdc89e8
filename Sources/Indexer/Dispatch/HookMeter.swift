import Synchronization

/// What has become of one hook's runs since its indexer was made.
public struct HookFigures: Sendable, Hashable {
    /// How a hook failed.
    public struct Failure: Sendable, Hashable {
        /// Milliseconds since 1970.
        public var time: Int64
        /// The record whose op it was run for.
        public var uri: String
        /// Cut when it is long: it is the hook's own.
        public var error: String
    }

    /// The upper bounds of the classes that run times are counted in; a last class takes what is longer than all.
    public static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
        .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2500), .seconds(5),
        .seconds(10), .seconds(30),
    ]

    public internal(set) var runs = 0
    /// Runs that threw or outlived their time limit, and ops whose record could not be read for them.
    public internal(set) var errors = 0
    /// Runs by class, in the order of `bounds`.
    public internal(set) var classes = [Int](repeating: 0, count: bounds.count + 1)
    /// All runs together.
    public internal(set) var time = Duration.zero
    public internal(set) var longest = Duration.zero
    public internal(set) var lastFailure: Failure?

    public init() {}

    mutating func ran(for duration: Duration) {
        runs += 1
        time += duration
        longest = max(longest, duration)
        classes[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
    }
}

/// Counts the runs of each hook. Thread-safe.
final class HookMeter: Sendable {
    private static let maximumError = 300
    private let figures = Mutex<[String: HookFigures]>([:])

    func ran(_ hook: String, for duration: Duration) {
        figures.withLock { $0[hook, default: HookFigures()].ran(for: duration) }
    }

    func failed(_ hook: String, on uri: String, _ error: String) {
        let isShort = error.utf8.count <= Self.maximumError
        let words = isShort ? error : String(decoding: error.utf8.prefix(Self.maximumError), as: UTF8.self) + "…"
        let failure = HookFigures.Failure(time: WallClock.milliseconds(), uri: uri, error: words)
        figures.withLock { figures in
            figures[hook, default: HookFigures()].errors += 1
            figures[hook]?.lastFailure = failure
        }
    }

    /// By hook name; of those that have run or failed.
    var snapshot: [String: HookFigures] { figures.withLock { $0 } }
}
