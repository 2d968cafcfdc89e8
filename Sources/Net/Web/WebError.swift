/// Why a request over the web got no answer.
public enum WebError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No http or https URL, or one that libcurl cannot read.
    case badURL
    /// Every address of the host is one that the policy refuses.
    case forbiddenAddress
    case timedOut
    /// The body is longer than allowed.
    case tooLarge
    /// Anything else: no such host, connection refused, a bad certificate. In libcurl's words.
    case failed(String)
    /// As many requests as there may be are under way.
    case busy
    /// The client has been stopped.
    case stopped

    public var description: String {
        switch self {
        case .badURL: "not a URL that can be fetched"
        case .forbiddenAddress: "the host's address is not a public one"
        case .timedOut: "no answer in time"
        case .tooLarge: "the answer is too long"
        case .failed(let reason): reason
        case .busy: "too many requests under way"
        case .stopped: "shutting down"
        }
    }
}

/// An answer from the web, whatever its status. Redirects are answers too: nobody follows them.
public struct WebAnswer: Sendable {
    public var status: Int
    public var body: [UInt8]
}
