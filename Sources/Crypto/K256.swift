import CSecp256k1

/// The library's tables, shared: they are read alone once they are made.
private final class K256Context: @unchecked Sendable {
    static let shared = K256Context()
    let handle: OpaquePointer

    private init() {
        // Plain CONTEXT_NONE: the flags to sign and to verify mean nothing any more.
        guard let handle = secp256k1_context_create(UInt32(SECP256K1_FLAGS_TYPE_CONTEXT)) else {
            fatalError("libsecp256k1 cannot make its context: out of memory")
        }
        // Blinding against side channels; no result depends on it.
        if let seed = try? SecureRandom.bytes(32) { _ = secp256k1_context_randomize(handle, seed) }
        self.handle = handle
    }
}

struct K256PublicKey: Verifier {
    private let key: secp256k1_pubkey

    init(point: [UInt8]) throws(KeyError) {
        var key = secp256k1_pubkey()
        guard secp256k1_ec_pubkey_parse(K256Context.shared.handle, &key, point, point.count) == 1 else {
            throw KeyError("not a point of secp256k1")
        }
        self.key = key
    }

    func verify(_ signature: Signature, ofDigest digest: [UInt8]) -> Bool {
        var parsed = secp256k1_ecdsa_signature()
        let context = K256Context.shared.handle
        guard secp256k1_ecdsa_signature_parse_compact(context, &parsed, signature.bytes) == 1 else { return false }
        return withUnsafePointer(to: key) { secp256k1_ecdsa_verify(context, &parsed, digest, $0) == 1 }
    }

    var uncompressedPoint: [UInt8] {
        var (point, count) = ([UInt8](repeating: 0, count: 65), 65)
        withUnsafePointer(to: key) {
            // Cannot fail: the key is one, and there is room for it.
            _ = secp256k1_ec_pubkey_serialize(
                K256Context.shared.handle, &point, &count, $0, UInt32(SECP256K1_FLAGS_TYPE_COMPRESSION))
        }
        return point
    }
}

final class K256PrivateKey: Signer {
    private let scalar: SecretBytes

    /// - Parameter scalar: one that the curve contains.
    init(scalar: [UInt8]) { self.scalar = SecretBytes(scalar) }

    func publicPoint() throws(KeyError) -> [UInt8] {
        var key = secp256k1_pubkey()
        let context = K256Context.shared.handle
        guard scalar.withBytes({ secret, _ in secp256k1_ec_pubkey_create(context, &key, secret) }) == 1 else {
            throw KeyError("not a private key of secp256k1")
        }
        var count = 33
        let flags = UInt32(SECP256K1_FLAGS_TYPE_COMPRESSION | SECP256K1_FLAGS_BIT_COMPRESSION)
        var point = [UInt8](repeating: 0, count: count)
        _ = secp256k1_ec_pubkey_serialize(context, &point, &count, &key, flags)
        return point
    }

    func sign(digest: [UInt8]) throws(KeyError) -> Signature {
        var signature = secp256k1_ecdsa_signature()
        let context = K256Context.shared.handle
        // No nonce function of our own: the library's default is RFC 6979's.
        let isSigned = scalar.withBytes { secret, _ in
            secp256k1_ecdsa_sign(context, &signature, digest, secret, nil, nil) == 1
        }
        guard isSigned else { throw KeyError("signing failed") }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = secp256k1_ecdsa_signature_serialize_compact(context, &bytes, &signature)
        guard let result = Signature(bytes, .k256) else { throw KeyError("signing failed") }
        return result
    }
}
