import Identity
import Synchronization

/// Tells whether a request comes from the operator: with the admin token, or with a session that was begun with it.
/// Thread-safe.
///
/// Who gives a wrong token some times must wait. A session is a browser's, so that what it does must also come from this
/// server's own page: its cookie is never sent along from other sites (`SameSite`), and the browser's word on where a
/// request comes from (`Sec-Fetch-Site`, or else `Origin`) must agree.
final class AdminGate: Sendable {
    /// Wrong tokens of one address: so many at once, and then one in this time.
    private static let tries = 5
    private static let tryInterval: Duration = .seconds(20)
    /// Addresses whose tries are counted at a time.
    private static let maximumAddresses = 10_000

    static let cookie = "hark_admin"

    private let token: AdminToken
    private let sessions: AdminSessions
    private let buckets = Mutex(BoundedCache<ClientAddress, TokenBucket>(capacity: maximumAddresses))
    /// Seconds since 1970.
    private let now: @Sendable () -> Int64

    init(_ token: AdminToken, now: @escaping @Sendable () -> Int64) {
        self.token = token
        self.now = now
        sessions = AdminSessions(token)
    }

    /// Returns when the request may see, or where it is no GET do, what an operator may.
    func check(_ request: HTTPRequest) throws(XRPCError) {
        if let authorization = request.headers["authorization"] {
            guard let candidate = Self.bearer(authorization) else { throw .adminTokenMissing }
            return try claim(candidate, from: request.client)
        }
        guard hasSession(request) else { throw .adminTokenMissing }
        guard Self.isFromOwnPage(request, otherwise: request.isReading) else { throw .fromElsewhere }
    }

    func hasSession(_ request: HTTPRequest) -> Bool {
        Self.session(of: request).map { sessions.isValid($0, now: now()) } ?? false
    }

    /// Begins a session for whoever knows the token; returns the `Set-Cookie` that carries it.
    func signIn(_ candidate: String, _ request: HTTPRequest) throws -> String {
        guard Self.isFromOwnPage(request, otherwise: true) else { throw XRPCError.fromElsewhere }
        try claim(candidate, from: request.client)
        return Self.setCookie(try sessions.begin(now: now()), seconds: AdminSessions.lifetime, request)
    }

    /// Ends the request's session; returns the `Set-Cookie` that takes it from the browser.
    func signOut(_ request: HTTPRequest) throws(XRPCError) -> String {
        guard Self.isFromOwnPage(request, otherwise: false) else { throw XRPCError.fromElsewhere }
        if let session = Self.session(of: request) { sessions.end(session, now: now()) }
        return Self.setCookie("", seconds: 0, request)
    }

    // MARK: Tokens

    private func claim(_ candidate: String, from client: ClientAddress) throws(XRPCError) {
        let time = ContinuousClock.now
        let wait = buckets.withLock { buckets -> Int? in
            var bucket = buckets[client] ?? TokenBucket(burst: Self.tries, per: Self.tryInterval, at: time)
            let mayTry = bucket.take(at: time)
            buckets.set(client, bucket)
            return mayTry ? nil : Int(max(bucket.wait.components.seconds, 0)) + 1
        }
        if let wait { throw .tooManyTries(seconds: wait) }
        guard token.matches(candidate) else { throw .adminTokenWrong }
        buckets.withLock { $0.set(client, TokenBucket(burst: Self.tries, per: Self.tryInterval, at: time)) }
    }

    private static func bearer(_ authorization: String) -> String? {
        let parts = authorization.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, Substring(parts[0]).lowercased() == "bearer" else { return nil }
        return String(Substring(parts[1]).trimmed)
    }

    // MARK: Browsers

    private static func session(of request: HTTPRequest) -> String? {
        for pair in (request.headers["cookie"] ?? "").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0].trimmed == cookie { return String(parts[1].trimmed) }
        }
        return nil
    }

    /// `Secure`, unless the page itself came in the clear, as it may from the machine itself.
    private static func setCookie(_ value: String, seconds: Int64, _ request: HTTPRequest) -> String {
        let isInTheClear = request.headers["origin"].map { $0.hasPrefix("http://") } ?? false
        let secure = isInTheClear ? "" : "; Secure"
        return "\(cookie)=\(value); Path=/_admin; Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
    }

    /// What the browser says of where the request comes from; `otherwise` when it says nothing.
    ///
    /// Source: the Fetch Metadata Request Headers of the W3C, and RFC 6454 for `Origin`.
    private static func isFromOwnPage(_ request: HTTPRequest, otherwise: Bool) -> Bool {
        if let site = request.headers["sec-fetch-site"] {
            // "none": typed by the person, as no other page can.
            return site == "same-origin" || site == "none" && request.isReading
        }
        guard let origin = request.headers["origin"] else { return otherwise }
        guard let scheme = ["https://", "http://"].first(where: { origin.hasPrefix($0) }) else { return false }
        let host = origin.dropFirst(scheme.count)
        // A proxy may have put another name into Host, and then says the first one here. Pages cannot set either.
        return [request.headers["x-forwarded-host"], request.headers["host"]].contains { $0 == String(host) }
    }
}

extension HTTPRequest {
    fileprivate var isReading: Bool { verb == "GET" || verb == "HEAD" }
}

extension XRPCError {
    static let adminTokenMissing = XRPCError(401, "AuthMissing", "this needs the admin token")
    static let adminTokenWrong = XRPCError(401, "InvalidToken", "that is not the admin token")
    static let fromElsewhere = XRPCError(403, "Forbidden", "the request does not come from this server's own page")

    static func tooManyTries(seconds: Int) -> XRPCError {
        XRPCError(429, "RateLimitExceeded", "too many wrong tokens from this address", retryAfter: seconds)
    }
}
