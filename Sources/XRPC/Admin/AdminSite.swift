import ATProto
import HookKit

/// `/_admin`: the operator's page, its parts, and what its script calls. Thread-safe.
///
/// | path | is |
/// |---|---|
/// | `/_admin` | the page, or the form that asks for the token |
/// | `/_admin/sign-in`, `/_admin/sign-out` | POST of those forms |
/// | `/_admin/page.css`, `/_admin/page.js`, `/_admin/icon.svg` | what the page is made of; nothing secret |
/// | `/_admin/api/…` | JSON, for the page's script and, with `Authorization: Bearer TOKEN`, for others |
///
/// Nothing of it is open to pages of other origins.
public struct AdminSite: Sendable {
    public struct Options: Sendable {
        public var token: AdminToken
        public var desk: any AdminDesk

        public init(token: AdminToken, desk: any AdminDesk) {
            self.token = token
            self.desk = desk
        }
    }

    static let root = "/_admin"
    private static let maximumIDs = 1000

    private let desk: any AdminDesk
    private let gate: AdminGate
    private let emit: Emit

    /// - Parameter now: milliseconds since 1970.
    init(_ options: Options, emit: Emit, now: @escaping @Sendable () -> Int64) {
        desk = options.desk
        gate = AdminGate(options.token) { now() / 1000 }
        self.emit = emit
    }

    /// Whether a path is one of this site's, be there something or not.
    static func owns(_ path: String) -> Bool { path == root || path.hasPrefix(root + "/") }

    func reply(to request: HTTPRequest) -> HTTPReply {
        let place = request.path.dropFirst(Self.root.count)
        switch (place, request.verb) {
        case ("", "GET"), ("", "HEAD"), ("/", "GET"), ("/", "HEAD"): return .now(page(request))
        case ("/sign-in", "POST"): return .now(signIn(request))
        case ("/sign-out", "POST"): return .now(signOut(request))
        case (_, "GET") where AdminAsset.named(place) != nil, (_, "HEAD") where AdminAsset.named(place) != nil:
            return .now(AdminAsset.named(place).map { Self.asset($0) } ?? Self.refusal(.notFound))
        case (_, "GET") where place.hasPrefix("/api/"), (_, "POST") where place.hasPrefix("/api/"):
            return .later { await answer(request, call: place.dropFirst("/api/".count)) }
        default: return .now(Self.refusal(wrong(request, place)))
        }
    }

    private func wrong(_ request: HTTPRequest, _ place: Substring) -> XRPCError {
        switch place {
        case "", "/": .wrongVerb(request.verb, allowed: ["GET", "HEAD"])
        case "/sign-in", "/sign-out": .wrongVerb(request.verb, allowed: ["POST"])
        case _ where place.hasPrefix("/api/"): .wrongVerb(request.verb, allowed: ["GET", "POST"])
        case _ where AdminAsset.named(place) != nil: .wrongVerb(request.verb, allowed: ["GET", "HEAD"])
        default: .notFound
        }
    }

    // MARK: Pages

    private func page(_ request: HTTPRequest) -> HTTPResponse {
        do throws(XRPCError) {
            try gate.check(request)
            return Self.html(AdminAsset.page)
        } catch {
            return Self.form(error.name == XRPCError.adminTokenMissing.name ? nil : error)
        }
    }

    private func signIn(_ request: HTTPRequest) -> HTTPResponse {
        do {
            guard let candidate = HTTPRequest(form: request).parameter("token"), !candidate.isEmpty else {
                throw XRPCError.adminTokenMissing
            }
            let cookie = try gate.signIn(candidate, request)
            emit("admin", "signed-in", [:])
            return Self.redirect(cookie)
        } catch let error as XRPCError {
            emit("admin", "not-signed-in", ["reason": error.name])
            return Self.form(error)
        } catch {
            emit("admin", "failed", ["at": request.path, "error": "\(error)"])
            return Self.form(.internalError)
        }
    }

    private func signOut(_ request: HTTPRequest) -> HTTPResponse {
        do throws(XRPCError) { return Self.redirect(try gate.signOut(request)) } catch { return Self.form(error) }
    }

    // MARK: Calls

    private func answer(_ request: HTTPRequest, call: Substring) async -> HTTPResponse {
        do {
            try gate.check(request)
            return Self.json(try await output(request, call))
        } catch let error as XRPCError {
            return Self.refusal(error)
        } catch is CancellationError {
            return Self.refusal(.stopping)
        } catch {
            emit("admin", "failed", ["at": request.path, "error": "\(error)"])
            return Self.refusal(.internalError)
        }
    }

    private func output(_ request: HTTPRequest, _ call: Substring) async throws -> [UInt8] {
        switch (call, request.verb) {
        case ("overview", "GET"): return try await desk.overview()
        case ("dead", "GET"): return try await desk.deadLetters(before: try Self.id(request, "before"))
        case ("devices", "GET"):
            return try await desk.devices(did: request.parameter("did") ?? "", after: request.parameter("after"))
        case ("explain", "GET"):
            guard let uri = request.parameter("uri") else { throw XRPCError.invalidRequest("uri is missing") }
            return try await desk.explanation(of: uri)
        case ("retry", "POST"):
            let selection = try Self.selection(request)
            emit("admin", "retry", ["pushes": selection.description])
            return try await desk.retry(selection)
        case ("drop", "POST"):
            let selection = try Self.selection(request)
            emit("admin", "drop", ["pushes": selection.description])
            return try await desk.drop(selection)
        case ("overview", _), ("dead", _), ("devices", _), ("explain", _):
            throw XRPCError.wrongVerb(request.verb, allowed: ["GET"])
        case ("retry", _), ("drop", _): throw XRPCError.wrongVerb(request.verb, allowed: ["POST"])
        default: throw XRPCError.notFound
        }
    }

    private static func id(_ request: HTTPRequest, _ name: String) throws(XRPCError) -> Int64? {
        guard let text = request.parameter(name) else { return nil }
        guard let id = Int64(text), id > 0 else { throw .invalidRequest("\(name) is no push's id") }
        return id
    }

    /// `{"ids": [1, 2]}`, or `{"all": true}` for all that are dead. As JSON, which no form of another site can send.
    private static func selection(_ request: HTTPRequest) throws(XRPCError) -> AdminSelection {
        guard request.isJSON else { throw .unsupportedMediaType }
        let body = try JSONBody(request.body)
        switch (body["ids"], body["all"]) {
        case (nil, .bool(true)?): return .allDead
        case (.array(let values)?, nil):
            let ids = values.compactMap(\.integer)
            guard ids.count == values.count, !ids.isEmpty, ids.count <= maximumIDs, ids.allSatisfy({ $0 > 0 }) else {
                throw .invalidRequest("ids must be 1 to \(maximumIDs) ids of pushes")
            }
            return .ids(ids)
        default: throw .invalidRequest("either ids or all must be given")
        }
    }
}

// MARK: Answers

extension AdminSite {
    /// The page is made of this server's own files alone, which nobody may frame, guess or keep.
    private static let guards: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    private static func response(
        _ body: [UInt8], _ type: String, status: Int = 200, _ headers: (name: String, value: String)...
    ) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", type)] + guards + headers, body: body)
    }

    private static func html(_ body: [UInt8]) -> HTTPResponse {
        response(body, "text/html; charset=utf-8", ("Cache-Control", "no-store"))
    }

    private static func asset(_ asset: AdminAsset) -> HTTPResponse {
        response(asset.body, asset.type, ("Cache-Control", "no-cache"))
    }

    private static func json(_ body: [UInt8]) -> HTTPResponse {
        response(body, "application/json", ("Cache-Control", "no-store"))
    }

    /// The form that asks for the token, with why it asks again.
    private static func form(_ error: XRPCError?) -> HTTPResponse {
        var response = html(
            AdminAsset.form(saying: error.map { "\($0.message.first?.uppercased() ?? "")\($0.message.dropFirst())." }))
        response.status = error?.status ?? 401
        return response.with(error ?? .adminTokenMissing)
    }

    private static func refusal(_ error: XRPCError) -> HTTPResponse {
        let body = Value.object(["error": .string(error.name), "message": .string(error.message)])
        var response = json(JSON.encode(body))
        response.status = error.status
        return response.with(error)
    }

    /// Back to the page, with a GET.
    private static func redirect(_ cookie: String) -> HTTPResponse {
        response(
            [], "text/plain; charset=utf-8", status: 303, ("Location", root), ("Set-Cookie", cookie),
            ("Cache-Control", "no-store"))
    }
}

extension HTTPResponse {
    /// With the headers that go with a refusal. The scheme is Bearer: browsers ask for nothing then.
    fileprivate func with(_ error: XRPCError) -> HTTPResponse {
        var response = self
        if error.status == 401 { response.headers.append(("WWW-Authenticate", "Bearer realm=\"hark admin\"")) }
        if let seconds = error.retryAfter { response.headers.append(("Retry-After", "\(seconds)")) }
        return response
    }
}

extension HTTPRequest {
    /// A form's fields, read as parameters.
    fileprivate init(form request: HTTPRequest) {
        self.init(verb: request.verb, target: "?" + String(decoding: request.body, as: UTF8.self))
    }
}
