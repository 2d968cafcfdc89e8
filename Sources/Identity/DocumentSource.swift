import ATProto
import Net

/// Where the document of a DID lies, and who may be asked for it.
struct DocumentSource {
    /// Which limit of requests at a time a fetch counts against: tar pits among strangers' domains must not keep the
    /// directory's answers out.
    enum Kind { case directory, domain }

    let kind: Kind
    let url: String
    let host: String
    let policy: AddressPolicy

    /// - Throws: `IdentityError.unsupported`.
    init(_ did: DID, _ options: IdentityResolver.Options) throws(IdentityError) {
        switch did.method {
        case "plc": try self.init(plc: did, directory: options.directory)
        case "web": try self.init(web: did, allowedHosts: options.allowedHosts)
        default: throw .unsupported("DIDs of the method \(did.method) are not supported")
        }
    }

    private init(plc did: DID, directory: String) throws(IdentityError) {
        // did:plc is 24 characters of base32.
        let isValid =
            did.identifier.utf8.count == 24
            && did.identifier.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x32...0x37 ~= $0 }
        guard isValid else { throw .unsupported("not a did:plc: 24 characters of base32 expected") }
        kind = .directory
        var base = Substring(directory)
        while base.hasSuffix("/") { base.removeLast() }
        url = "\(base)/\(did)"
        host = String(base)
        // The operator has named it.
        policy = .any
    }

    private init(web did: DID, allowedHosts: Set<String>) throws(IdentityError) {
        // The protocol allows neither paths nor, but for tests on one machine, ports.
        let parts = did.identifier.split(separator: "%3A", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2, !did.identifier.contains(":") else {
            throw .unsupported("a did:web with a path is not supported")
        }
        let port = parts.count == 2 ? UInt16(parts[1]) : nil
        let place = port.map { "\(name):\($0)" } ?? String(name)
        let isAllowed = allowedHosts.contains(place) || allowedHosts.contains(String(name))
        guard parts.count == 1 || port != nil && isAllowed else {
            throw .unsupported("a did:web with a port is not supported")
        }
        guard isAllowed || Handle.isValid(String(name)) else { throw .unsupported("\(name) is no domain") }
        kind = .domain
        host = String(name)
        // As everywhere in the protocol, plain HTTP serves for the machine itself alone.
        let isLocal = name == "localhost" || name == "127.0.0.1"
        url = "\(isAllowed && isLocal ? "http" : "https")://\(place)/.well-known/did.json"
        policy = isAllowed ? .any : .publicOnly
    }
}
