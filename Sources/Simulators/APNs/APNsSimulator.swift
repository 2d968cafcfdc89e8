/// A stand-in for Apple's push gateway: TLS and HTTP/2 on 127.0.0.1, as strict as the real one. Thread-safe.
public final class APNsSimulator: Sendable {
    public struct Options: Sendable {
        /// 0 takes any free port.
        public var port: UInt16 = 0
        /// Providers whose tokens are accepted, each for its own `bundleID`.
        public var providers: [APNsCredentials]
        /// Further topics that are accepted.
        public var topics: Set<String> = []
        /// Tokens answered 410 Unregistered, with when they died in milliseconds since 1970 (nil: at the simulator's start).
        public var deadTokens: [String: Int64?] = [:]
        /// Tokens answered 400 BadDeviceToken.
        public var badTokens: Set<String> = []
        public var strictness = Strictness.strict
        public var faults = Faults()
        /// Where to write a JSON line for each request.
        public var log: APNsLog?
        /// Called for each request once its answer is decided, on the simulator's own thread.
        public var onPush: (@Sendable (ReceivedPush) -> Void)?

        public init(providers: [APNsCredentials]) { self.providers = providers }
    }

    public enum Strictness: Sendable, Hashable {
        /// As Apple, and as its strictest gateways: an unknown `apns-…` header or a wrong order ends the connection.
        case strict
        /// Forgives strange headers, old provider tokens, and several streams before the first success.
        case lenient
    }

    /// Makes the certificate and checks the options. Opens nothing yet.
    public init(_ options: Options) throws { fatalError("stub") }

    /// Opens the port.
    public func start() throws { fatalError("stub") }

    /// Drops all connections and closes the port. What was received stays readable.
    public func stop() { fatalError("stub") }

    /// The port that was bound; 0 before `start`.
    public var port: UInt16 { fatalError("stub") }

    /// The root to trust (`HARK_APNS_CA_FILE` names a file with it).
    public var caPEM: String { fatalError("stub") }

    /// Every request so far, in order of arrival.
    public var received: [ReceivedPush] { fatalError("stub") }

    /// Waits until at least `count` requests have come (or, with `accepted`, were answered 200), and returns all so far.
    public func received(atLeast count: Int, accepted: Bool = false) async -> [ReceivedPush] { fatalError("stub") }

    public var counts: APNsCounts { fatalError("stub") }
}
