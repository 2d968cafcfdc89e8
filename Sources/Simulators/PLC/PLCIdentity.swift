import ATProto
import Crypto
import Glibc
import XRPC

/// An account as a PLC directory lists it; if it was invented here, with the private key that a real directory never sees.
public struct PLCIdentity: Sendable {
    /// How the document writes the account's key.
    public enum KeyForm: String, Sendable, CaseIterable {
        /// `Multikey`, as the directory writes them today.
        case multikey
        /// `EcdsaSecp256k1VerificationKey2019` and its sister, as it wrote them until 2023: an uncompressed point.
        case legacy
        /// A document without `#atproto`.
        case absent
    }

    public let did: String
    public var handle: String
    public var key: PublicKey
    /// What signs in the account's name; nil when somebody else has it.
    public var privateKey: PrivateKey?
    public var keyForm: KeyForm
    /// The URL of the account's server.
    public var pds: String
    /// The account was given up: the directory answers 410.
    public var isTombstoned: Bool

    public init(
        did: String, handle: String, key: PublicKey, keyForm: KeyForm = .multikey,
        pds: String = "https://pds.example.com", isTombstoned: Bool = false
    ) {
        self.did = did
        self.handle = handle
        self.key = key
        self.keyForm = keyForm
        self.pds = pds
        self.isTombstoned = isTombstoned
    }

    public init(
        did: String, handle: String, privateKey: PrivateKey, keyForm: KeyForm = .multikey, isTombstoned: Bool = false
    ) {
        self.init(
            did: did, handle: handle, key: privateKey.publicKey, keyForm: keyForm, isTombstoned: isTombstoned)
        self.privateKey = privateKey
    }

    /// `ES256` or `ES256K`.
    public var algorithm: String { key.curve.algorithm }
}

// MARK: Its document

extension PLCIdentity {
    /// The DID document, as the directory formats it. Source: web.plc.directory/spec/v0.1/did-plc.
    var document: Value {
        let contexts = ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1", keyContext]
        return .object([
            "@context": .array(contexts.map { .string($0) }), "id": .string(did),
            "alsoKnownAs": .array([.string("at://\(handle)")]), "verificationMethod": .array(verificationMethods),
            "service": .array([
                .object([
                    "id": .string("#atproto_pds"), "type": .string("AtprotoPersonalDataServer"),
                    "serviceEndpoint": .string(pds),
                ])
            ]),
        ])
    }

    private var keyContext: String {
        switch key.curve {
        case .k256: "https://w3id.org/security/suites/secp256k1-2019/v1"
        case .p256: "https://w3id.org/security/suites/ecdsa-2019/v1"
        }
    }

    private var verificationMethods: [Value] {
        guard let (type, multibase) = keyText else { return [] }
        return [
            .object([
                // The older documents wrote the fragment alone.
                "id": .string(keyForm == .legacy ? "#atproto" : did + "#atproto"), "type": .string(type),
                "controller": .string(did), "publicKeyMultibase": .string(multibase),
            ])
        ]
    }

    private var keyText: (type: String, multibase: String)? {
        switch keyForm {
        case .multikey: return ("Multikey", key.multikey)
        case .absent: return nil
        case .legacy:
            let type =
                key.curve == .k256 ? "EcdsaSecp256k1VerificationKey2019" : "EcdsaSecp256r1VerificationKey2019"
            return (type, Multibase.encodeBase58(key.uncompressedPoint))
        }
    }

    /// What stands in the directory's log, which documents are made from.
    var data: Value {
        .object([
            "did": .string(did),
            "verificationMethods": keyForm == .absent
                ? .object([:]) : .object(["atproto": .string(key.didKey)]),
            "rotationKeys": .array([.string(key.didKey)]), "alsoKnownAs": .array([.string("at://\(handle)")]),
            "services": .object([
                "atproto_pds": .object([
                    "type": .string("AtprotoPersonalDataServer"), "endpoint": .string(pds),
                ])
            ]),
        ])
    }
}

// MARK: Its tokens

extension PLCIdentity {
    /// What a service token says besides who speaks.
    public struct Claims: Sendable {
        /// The server that the call is for.
        public var audience: String
        /// The NSID of the method called.
        public var method: String
        /// Seconds until it expires.
        public var lifetime: Int64 = 60

        public init(audience: String, method: String, lifetime: Int64 = 60) {
            self.audience = audience
            self.method = method
            self.lifetime = lifetime
        }
    }

    /// A service token as the account's server signs one for each call, good for one.
    /// Source: atproto.com/specs/xrpc#inter-service-authentication-jwt.
    ///
    /// - Throws: `KeyError`, when the private key is not here, or the system has no randomness to give.
    public func serviceToken(_ claims: Claims) throws(KeyError) -> String {
        guard let privateKey else { throw KeyError("the private key of \(did) is not here") }
        let now = Int64(time(nil))
        let header = Value.object(["typ": .string("JWT"), "alg": .string(algorithm)])
        let payload = Value.object([
            "iss": .string(did), "aud": .string(claims.audience), "lxm": .string(claims.method),
            "iat": .integer(now), "exp": .integer(now + claims.lifetime),
            "jti": .string(Base16.encode(try SecureRandom.bytes(16))),
        ])
        return try JSONWebToken(header: JSON.encode(header), claims: JSON.encode(payload), signedBy: privateKey).text
    }
}
