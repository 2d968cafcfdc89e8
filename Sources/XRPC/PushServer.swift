import ATProto
import Glibc
import HookKit
import Identity
import Storage

/// The server that phones and operators talk to: registration, identity, devices, health and figures. Thread-safe.
///
/// ```swift
/// let server = try PushServer(options, database: database, emit: emit)
/// …
/// await server.stop()
/// ```
public final class PushServer: Sendable {
    public struct Options: Sendable {
        /// This server's DID: the audience of the tokens that are shown to it.
        public var did: DID
        /// `host:port`; port 0 takes a free one.
        public var listen = "127.0.0.1:3000"
        public var limits = HTTPLimits()
        /// Where keys come from: directory, allow-list, size and age of what is remembered.
        public var identity = IdentityResolver.Options()
        /// False: the methods answer 501.
        public var isPushOn = true
        /// Platforms that devices may be registered for, of `apns`, `fcm` and `web`.
        public var platforms: Set<String> = ["apns", "fcm", "web"]
        /// `production` or `sandbox`: for registrations that name none.
        public var environment = "production"
        /// Devices of one account.
        public var devicesPerAccount = 20
        /// How far ahead a token may expire, and how far clocks may differ: seconds.
        public var maximumTokenLifetime: Int64 = 300
        public var clockSkew: Int64 = 30
        /// Used tokens remembered until they expire; some 40 bytes each.
        public var maximumUsedTokens = 1_000_000
        /// The JSON that `/_health` answers, and whether all is well (else with 503).
        public var health: @Sendable () async -> (isWell: Bool, json: [UInt8]) = { (true, Array(#"{"ok":true}"#.utf8)) }
        /// Adds the figures of the other rooms, which the server's own follow. Nil: `/metrics` is not there.
        package var metrics: (@Sendable (inout MetricsText) async -> Void)?
        /// What an operator sees and does at `/_admin`. Nil: nothing is there.
        public var admin: AdminSite.Options?
        /// Further paths, each answering GET.
        public var pages: [String: @Sendable (HTTPRequest) async throws -> HTTPResponse] = [:]
        /// Milliseconds since 1970.
        public var now: @Sendable () -> Int64 = { PushServer.wallClock() }

        public init(did: DID) { self.did = did }
    }

    private let server: HTTPServer
    private let resolver: IdentityResolver
    private let auth: ServiceAuth
    private let meter: XRPCMeter

    /// Listens and serves at once.
    /// - Parameter database: must outlive the server.
    /// - Throws: `ServerError` and the system's, when there is no listening or there are no threads.
    public init(_ options: Options, database: Database, emit: Emit) throws {
        let resolver = try IdentityResolver(options.identity)
        let meter = XRPCMeter()
        let now = options.now
        let auth = ServiceAuth(
            rules: ServiceToken.Rules(
                audience: options.did.description, maximumLifetime: options.maximumTokenLifetime,
                skew: options.clockSkew),
            keys: ServiceAuth.Keys(
                document: { did throws(IdentityError) in try await resolver.document(did) },
                refreshed: { did throws(IdentityError) in try await resolver.refreshed(did) }),
            usedTokens: options.maximumUsedTokens, now: { now() / 1000 })
        let methods = PushMethods(
            database: database,
            rules: DeviceInput.Rules(
                platforms: options.platforms, environment: options.environment, server: options.did.description),
            deviceLimit: options.devicesPerAccount, now: now)
        let answers = XRPCAnswers(realm: options.did.description)
        let figures = ServerFigures(meter: meter, resolver: resolver, auth: auth)
        let router = XRPCRouter(
            methods: methods.all, pages: Self.pages(options, answers, figures), auth: auth, isOn: options.isPushOn,
            answers: answers, admin: options.admin.map { AdminSite($0, emit: emit, now: now) }, meter: meter, emit: emit
        )
        self.resolver = resolver
        self.auth = auth
        self.meter = meter
        do {
            server = try HTTPServer(
                listen: options.listen, limits: options.limits,
                refusals: { error in
                    meter.count("other", error.status)
                    return answers.refusal(error)
                },
                handler: { router.reply(to: $0) })
            figures.watch(server)
        } catch {
            resolver.stop()
            throw error
        }
        emit("xrpc", "listening", ["listen": options.listen, "port": "\(server.port)", "did": options.did.description])
    }

    /// The port that it has got.
    public var port: UInt16 { server.port }

    /// Takes no new request, and lets those under way finish until the deadline.
    public func stop(deadline: Duration = .seconds(3)) async {
        await server.stop(deadline: deadline)
        resolver.stop()
    }

    private static func pages(
        _ options: Options, _ answers: XRPCAnswers, _ figures: ServerFigures
    ) -> [String: XRPCRouter.Page] {
        var pages: [String: XRPCRouter.Page] = options.pages
        if let document = ServerDocument(options.did).json {
            let response = answers.json(document, headers: [("Access-Control-Allow-Origin", "*")])
            pages["/.well-known/did.json"] = { _ in response }
        }
        let health = options.health
        pages["/_health"] = { _ in
            let (isWell, json) = await health()
            return HTTPResponse(
                status: isWell ? 200 : 503,
                headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")], body: json)
        }
        if let metrics = options.metrics {
            pages["/metrics"] = { _ in
                var text = MetricsText()
                await metrics(&text)
                figures.add(to: &text)
                return HTTPResponse(contentType: MetricsText.contentType, body: [UInt8](text.text.utf8))
            }
        }
        return pages
    }

    private static func wallClock() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
