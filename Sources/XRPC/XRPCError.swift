/// A refusal as the protocol writes it: a status, and a body `{error, message}`.
///
/// Source: atproto.com/specs/xrpc#error-responses; the names are those of the reference implementation where it has one.
public struct XRPCError: Error, Hashable, Sendable, CustomStringConvertible {
    public var status: Int
    /// The name that clients tell errors apart by.
    public var name: String
    /// For people. Never holds a token.
    public var message: String
    /// Seconds to wait, for 429 and 503.
    public var retryAfter: Int?

    public init(_ status: Int, _ name: String, _ message: String, retryAfter: Int? = nil) {
        self.status = status
        self.name = name
        self.message = message
        self.retryAfter = retryAfter
    }

    public var description: String { "\(name): \(message)" }
}

extension XRPCError {
    static func invalidRequest(_ message: String) -> XRPCError { XRPCError(400, "InvalidRequest", message) }
    static func invalidToken(_ message: String) -> XRPCError { XRPCError(401, "InvalidToken", message) }

    static let authMissing = XRPCError(401, "AuthMissing", "this method needs a service token of the viewer's account")
    static let notFound = XRPCError(404, "NotFound", "nothing lives at this path")
    static let payloadTooLarge = XRPCError(413, "PayloadTooLarge", "the body is longer than this server takes")
    static let unsupportedMediaType = XRPCError(415, "UnsupportedMediaType", "the body must be application/json")
    static let internalError = XRPCError(500, "InternalServerError", "something went wrong here; it has been reported")
    static let pushIsOff = XRPCError(501, "MethodNotImplemented", "this server sends no notifications")
    static let unknownMethod = XRPCError(501, "MethodNotImplemented", "this server does not know the method")
    static let overloaded = XRPCError(503, "NotEnoughResources", "the server is busy", retryAfter: 5)
    static let stopping = XRPCError(503, "NotEnoughResources", "the server is shutting down", retryAfter: 5)
    static let tooSlow = XRPCError(503, "NotEnoughResources", "the request took too long", retryAfter: 5)

    /// 405 for a known path. The verbs that it takes go into `Allow`.
    static func wrongVerb(_ verb: String, allowed: [String]) -> XRPCError {
        XRPCError(405, "InvalidRequest", "\(verb) is not for this path: \(allowed.joined(separator: ", ")) expected")
    }

    static func rateLimited(seconds: Int) -> XRPCError {
        XRPCError(429, "RateLimitExceeded", "too many requests from this address", retryAfter: seconds)
    }
}
