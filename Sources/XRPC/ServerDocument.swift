import ATProto

/// This server's own DID document, by which accounts' servers find it: for a did:web, whose domain is the server's.
///
/// Source: atproto.com/specs/did#did-web, and the proxying of calls in atproto.com/specs/xrpc.
struct ServerDocument: Sendable {
    /// Nil for a DID of another method, whose document lies elsewhere.
    let json: Value?

    init(_ did: DID) {
        guard did.method == "web" else {
            json = nil
            return
        }
        let endpoint = Self.origin(did.identifier)
        let services = [("#hark", "HarkPushService"), ("#bsky_notif", "BskyNotificationService")]
        json = .object([
            "@context": .array([.string("https://www.w3.org/ns/did/v1")]), "id": .string(did.description),
            "service": .array(
                services.map { id, type in
                    .object(["id": .string(id), "type": .string(type), "serviceEndpoint": .string(endpoint)])
                }),
        ])
    }

    /// Plain HTTP serves for the machine itself alone; a port stands behind `%3A`.
    private static func origin(_ identifier: String) -> String {
        let parts = identifier.split(separator: "%3A", maxSplits: 1).map(String.init)
        let scheme = parts[0] == "localhost" || parts[0] == "127.0.0.1" ? "http" : "https"
        return "\(scheme)://\(parts.joined(separator: ":"))"
    }
}
