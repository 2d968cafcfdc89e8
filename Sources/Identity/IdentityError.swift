/// Why the document of a DID could not be had.
public enum IdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A method other than plc and web, or a did:web with a path or a port.
    case unsupported(String)
    /// The directory or the domain says that there is none, or none any more.
    case notFound
    /// The domain leads to an address that is not of the public internet.
    case forbiddenHost(String)
    /// What came is no document of that DID.
    case malformed(String)
    case timedOut
    /// No connection, or an answer that is none.
    case unreachable(String)
    /// As many documents as may be are being fetched.
    case busy

    public var description: String {
        switch self {
        case .unsupported(let reason): reason
        case .notFound: "no such DID"
        case .forbiddenHost(let host): "\(host) does not lead to a public address"
        case .malformed(let reason): "not a DID document: \(reason)"
        case .timedOut: "the DID document did not come in time"
        case .unreachable(let reason): "the DID document could not be fetched: \(reason)"
        case .busy: "too many DID documents are being fetched"
        }
    }
}
