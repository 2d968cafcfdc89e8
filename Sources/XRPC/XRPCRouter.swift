import ATProto
import HookKit
import Synchronization

/// Answers requests: `/xrpc/…` by method, and some fixed paths. Thread-safe.
struct XRPCRouter: Sendable {
    /// What lives at a path that is no XRPC method. The request's verb is GET.
    typealias Page = @Sendable (HTTPRequest) async throws -> HTTPResponse

    private static let prefix = "/xrpc/"
    private let methods: [String: XRPCMethod]
    private let pages: [String: Page]
    private let auth: ServiceAuth
    /// False: every method answers that it is not implemented.
    private let isOn: Bool
    private let answers: XRPCAnswers
    /// The operator's page, where there is one.
    private let admin: AdminSite?
    private let meter: XRPCMeter
    private let emit: Emit

    init(
        methods: [XRPCMethod], pages: [String: Page], auth: ServiceAuth, isOn: Bool, answers: XRPCAnswers,
        admin: AdminSite?, meter: XRPCMeter, emit: Emit
    ) {
        self.methods = Dictionary(methods.map { ($0.nsid, $0) }) { first, _ in first }
        self.pages = pages
        self.auth = auth
        self.isOn = isOn
        self.answers = answers
        self.admin = admin
        self.meter = meter
        self.emit = emit
    }

    func reply(to request: HTTPRequest) -> HTTPReply {
        if request.path.hasPrefix(Self.prefix) {
            return reply(to: request, nsid: String(request.path.dropFirst(Self.prefix.count)))
        }
        if let admin, AdminSite.owns(request.path) { return admin.reply(to: request) }
        guard let page = pages[request.path] else { return .now(answers.refusal(.notFound)) }
        switch request.verb {
        case "GET", "HEAD": return .later { await answer(request, page) }
        case "OPTIONS": return .now(answers.preflight(["GET", "HEAD"]))
        default: return .now(answers.wrongVerb(request.verb, allowed: ["GET", "HEAD"]))
        }
    }

    private func answer(_ request: HTTPRequest, _ page: Page) async -> HTTPResponse {
        do { return try await page(request) } catch { return refusal(error, at: request.path) }
    }

    // MARK: Methods

    private func reply(to request: HTTPRequest, nsid: String) -> HTTPReply {
        guard let method = methods[nsid] else {
            let error = NSID.isValid(nsid) ? XRPCError.unknownMethod : .invalidRequest("the path names no method")
            return counted(answers.refusal(error), "other")
        }
        let verbs = method.kind == .query ? ["GET", "HEAD"] : ["POST"]
        if request.verb == "OPTIONS" { return .now(answers.preflight(verbs)) }
        guard verbs.contains(request.verb) else {
            return counted(answers.wrongVerb(request.verb, allowed: verbs), nsid)
        }
        guard isOn else { return counted(answers.refusal(.pushIsOff), nsid) }
        if method.kind == .procedure, !request.isJSON {
            return counted(answers.refusal(.unsupportedMediaType), nsid)
        }
        return .later {
            let response = await call(method, request)
            meter.count(nsid, response.status)
            return response
        }
    }

    private func counted(_ response: HTTPResponse, _ nsid: String) -> HTTPReply {
        meter.count(nsid, response.status)
        return .now(response)
    }

    private func call(_ method: XRPCMethod, _ request: HTTPRequest) async -> HTTPResponse {
        do {
            let viewer = try await auth.viewer(authorization: request.headers["authorization"], method: method.nsid)
            let body = method.kind == .query ? JSONBody() : try JSONBody(request.body)
            if let did = body["did"], did != .string(viewer.description) {
                throw XRPCError.invalidRequest(
                    "the body names another account: the token alone says whose device it is")
            }
            let output = try await method.run(XRPCMethod.Call(viewer: viewer, body: body))
            return answers.success(output)
        } catch { return refusal(error, at: method.nsid) }
    }

    private func refusal(_ error: any Error, at place: String) -> HTTPResponse {
        if let error = error as? XRPCError { return answers.refusal(error) }
        if error is CancellationError { return answers.refusal(.stopping) }
        emit("xrpc", "failed", ["at": place, "error": "\(error)"])
        return answers.refusal(.internalError)
    }
}

extension HTTPRequest {
    /// Whether the body is called `application/json`, with or without parameters.
    var isJSON: Bool {
        guard let type = headers["content-type"]?.prefix(while: { $0 != ";" }) else { return false }
        return type.trimmed.lowercased() == "application/json"
    }
}

/// How answers look on the wire, those for browsers of other origins included.
struct XRPCAnswers: Sendable {
    /// What `WWW-Authenticate` calls this server.
    let realm: String

    /// Any origin may call: a call is authorised by its token, never by a cookie.
    private static let sharing: [(name: String, value: String)] = [
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Expose-Headers", "Retry-After, WWW-Authenticate"),
    ]

    func success(_ output: Value?) -> HTTPResponse {
        guard let output else { return HTTPResponse(status: 200, headers: Self.sharing) }
        return json(output, headers: [("Cache-Control", "no-store")] + Self.sharing)
    }

    func json(_ value: Value, status: Int = 200, headers: [(name: String, value: String)]) -> HTTPResponse {
        let type = [(name: "Content-Type", value: "application/json")]
        return HTTPResponse(status: status, headers: type + headers, body: JSON.encode(value))
    }

    func refusal(_ error: XRPCError) -> HTTPResponse {
        var headers = Self.sharing
        if error.status == 401 { headers.append(("WWW-Authenticate", challenge(error))) }
        if let seconds = error.retryAfter { headers.append(("Retry-After", "\(seconds)")) }
        headers.append(("Cache-Control", "no-store"))
        let body = Value.object(["error": .string(error.name), "message": .string(error.message)])
        return json(body, status: error.status, headers: headers)
    }

    /// Source: RFC 6750, section 3. Messages hold no quotes and no backslashes of their own.
    private func challenge(_ error: XRPCError) -> String {
        guard error.name != XRPCError.authMissing.name else { return "Bearer realm=\"\(realm)\"" }
        let text = error.message.unicodeScalars.filter { $0.isASCII && $0 != "\"" && $0 != "\\" && $0.value >= 0x20 }
        return
            "Bearer realm=\"\(realm)\", error=\"invalid_token\", error_description=\"\(String(String.UnicodeScalarView(text)))\""
    }

    func wrongVerb(_ verb: String, allowed: [String]) -> HTTPResponse {
        var response = refusal(.wrongVerb(verb, allowed: allowed))
        response.headers.append(("Allow", (allowed + ["OPTIONS"]).joined(separator: ", ")))
        return response
    }

    /// What a browser asks before it lets a page of another origin call.
    func preflight(_ verbs: [String]) -> HTTPResponse {
        let verbs = (verbs + ["OPTIONS"]).joined(separator: ", ")
        return HTTPResponse(
            status: 204,
            headers: Self.sharing + [
                ("Allow", verbs), ("Access-Control-Allow-Methods", verbs),
                ("Access-Control-Allow-Headers", "Authorization, Content-Type, Atproto-Proxy, Atproto-Accept-Labelers"),
                ("Access-Control-Max-Age", "86400"),
            ])
    }
}
