import Crypto

/// What a DID document says of an account: its signing key, its handle, the server that holds its repo.
///
/// Source: atproto.com/specs/did#did-documents. Everything else in the document is passed over, and so is an entry that
/// is malformed: a document may well have no usable key.
public struct DIDDocument: Sendable, Hashable {
    public let did: DID
    /// As claimed: nobody has asked the handle's domain yet.
    public let handle: Handle?
    /// The key of `#atproto`, which signs the account's commits and its service tokens.
    public let signingKey: PublicKey?
    /// The URL of `#atproto_pds`, without a path.
    public let pds: String?

    /// Bytes of one document. Real ones take less than 2,000.
    public static let maximumSize = 64 << 10

    public init(did: DID, handle: Handle? = nil, signingKey: PublicKey? = nil, pds: String? = nil) {
        self.did = did
        self.handle = handle
        self.signingKey = signingKey
        self.pds = pds
    }

    /// Reads the JSON of the document of `did`.
    ///
    /// - Throws: when it is no JSON, or the document of somebody else.
    public init(json: [UInt8], did: DID) throws(DecodingFailure) {
        guard json.count <= Self.maximumSize else { throw DecodingFailure("a document of more than 64 KiB") }
        let document = try JSON.decode(json, as: .plain)
        guard let id = document["id"]?.string, id.hasSameBytes(as: did.description) else {
            throw DecodingFailure("the document is not that of \(did)")
        }
        self.init(
            did: did, handle: Self.handle(in: document), signingKey: Self.signingKey(in: document, of: did),
            pds: Self.pds(in: document, of: did))
    }

    private static func handle(in document: Value) -> Handle? {
        for case .string(let alias) in document["alsoKnownAs"]?.array ?? [] where alias.hasPrefix("at://") {
            return try? Handle(String(alias.dropFirst(5)))
        }
        return nil
    }

    /// The first entry of `list` that carries the fragment, whether its id is written whole or as the fragment alone.
    private static func entry(_ fragment: String, of list: String, in document: Value, of did: DID) -> Value? {
        document[list]?.array?.first { entry in
            guard let id = entry["id"]?.string else { return false }
            return id.hasSameBytes(as: fragment) || id.hasSameBytes(as: did.description + fragment)
        }
    }

    private static func signingKey(in document: Value, of did: DID) -> PublicKey? {
        guard let method = entry("#atproto", of: "verificationMethod", in: document, of: did),
            let multibase = method["publicKeyMultibase"]?.string
        else { return nil }
        // A key that another party controls does not speak for the account.
        if let controller = method["controller"], controller.string?.hasSameBytes(as: did.description) != true {
            return nil
        }
        switch method["type"]?.string {
        case "Multikey": return try? PublicKey(multikey: multibase)
        case "EcdsaSecp256r1VerificationKey2019": return try? PublicKey(.p256, multibase: multibase)
        case "EcdsaSecp256k1VerificationKey2019": return try? PublicKey(.k256, multibase: multibase)
        default: return nil
        }
    }

    private static func pds(in document: Value, of did: DID) -> String? {
        guard let service = entry("#atproto_pds", of: "service", in: document, of: did),
            service["type"]?.string == "AtprotoPersonalDataServer",
            let endpoint = service["serviceEndpoint"]?.string, isOrigin(endpoint)
        else { return nil }
        return endpoint
    }

    /// `https://host[:port]`, or the same with http.
    private static func isOrigin(_ url: String) -> Bool {
        let scheme = ["https://", "http://"].first { url.hasPrefix($0) }
        guard let scheme, url.utf8.count <= 512 else { return false }
        let authority = url.utf8.dropFirst(scheme.utf8.count)
        return !authority.isEmpty
            && authority.allSatisfy { $0.isAlphanumeric || ".-:[]".utf8.contains($0) }
    }
}
