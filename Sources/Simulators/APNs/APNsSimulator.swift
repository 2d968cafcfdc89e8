import Crypto
import Net
import Synchronization

/// A stand-in for Apple's push gateway: TLS and HTTP/2 on 127.0.0.1, as strict as the real one. Thread-safe.
public final class APNsSimulator: Sendable {
    public struct Options: Sendable {
        /// 0 takes any free port.
        public var port: UInt16 = 0
        /// Providers whose tokens are accepted, each for its own `bundleID`.
        public var providers: [APNsCredentials]
        /// Further topics that any of them may push to.
        public var topics: Set<String> = []
        /// Tokens answered 410 Unregistered, with when they died in milliseconds since 1970 (nil: at the simulator's start).
        public var deadTokens: [String: Int64?] = [:]
        /// Tokens answered 400 BadDeviceToken.
        public var badTokens: Set<String> = []
        /// Tokens that belong to one topic, and are answered 400 DeviceTokenNotForTopic under another.
        public var tokenTopics: [String: String] = [:]
        public var strictness = Strictness.strict
        public var faults = Faults()
        /// Keeps every request for `received`, which takes memory for each; false for a run without end.
        public var keepsPushes = true
        /// Where to write a JSON line for each request.
        public var log: APNsLog?
        /// Called for each request once its answer is decided, on the simulator's own thread.
        public var onPush: (@Sendable (ReceivedPush) -> Void)?

        public init(providers: [APNsCredentials]) { self.providers = providers }
    }

    public enum Strictness: Sendable, Hashable {
        /// As Apple, and as its strictest gateways: an unknown `apns-…` header or a wrong order ends the connection.
        case strict
        /// Forgives strange headers, any form of `apns-id`, old and often changed provider tokens.
        case lenient
    }

    /// What runs between `start` and `stop`.
    private struct Running: @unchecked Sendable {
        var loop: EventLoop
        /// Confined to `loop`, apart from `port` and `close`.
        var server: HTTP2Server
        var gateway: APNsGateway
    }

    private let options: Options
    private let providers: [ProviderTokenCheck.Provider]
    private let certificate: SelfSignedCertificate
    private let tls: TLSContext
    private let ledger: PushLedger
    private let running = Mutex<Running?>(nil)

    /// Makes the certificate and reads the keys. Opens nothing yet.
    public init(_ options: Options) throws {
        self.options = options
        providers = try options.providers.map(Self.provider)
        certificate = try SelfSignedCertificate()
        tls = try TLSContext.server(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        ledger = PushLedger(keepsPushes: options.keepsPushes)
    }

    deinit { stop() }

    static func provider(_ credentials: APNsCredentials) throws -> ProviderTokenCheck.Provider {
        ProviderTokenCheck.Provider(
            keyID: credentials.keyID, teamID: credentials.teamID, topic: credentials.bundleID,
            key: try PrivateKey(pem: credentials.keyPEM).publicKey)
    }

    /// Opens the port. Does nothing when it is open.
    public func start() throws {
        try running.withLock { running in
            guard running == nil else { return }
            let loop = try EventLoop(name: "apns-simulator")
            let gateway = APNsGateway(options: options, providers: providers, ledger: ledger, loop: loop)
            let server = try HTTP2Server(
                listen: Endpoint(host: "127.0.0.1", port: options.port), tls: tls, on: loop, options: serverOptions,
                handler: gateway)
            running = Running(loop: loop, server: server, gateway: gateway)
        }
    }

    private var serverOptions: HTTP2Server.Options {
        var server = HTTP2Server.Options()
        server.maxConcurrentStreams = options.strictness == .strict ? 1 : APNsGateway.usualStreams
        if options.faults.handshake == .silent { server.greeting = .silent }
        if options.faults.windows == .shut {
            server.opensWindows = false
            // The smallest that a client may count on.
            server.connectionWindow = 65_535
        }
        return server
    }

    /// Drops all connections and closes the port. What was received stays readable.
    public func stop() {
        guard let ended = running.withLock({ $0.take() }) else { return }
        ended.loop.stop()
    }

    /// The port that was bound; 0 when it is not open.
    public var port: UInt16 { running.withLock { $0?.server.port ?? 0 } }

    /// The root to trust, PEM (`HARK_APNS_CA_FILE` names a file with it).
    public var caPEM: String { certificate.caPEM }

    /// Every request so far, in order of arrival.
    public var received: [ReceivedPush] { ledger.received }

    /// Waits until at least `count` requests have come (or, with `accepted`, were answered 200), and returns all so far.
    /// Returns early when the task is cancelled.
    public func received(atLeast count: Int, accepted: Bool = false) async -> [ReceivedPush] {
        await ledger.wait(for: count, accepted: accepted)
    }

    public var counts: APNsCounts { ledger.counts }
}
