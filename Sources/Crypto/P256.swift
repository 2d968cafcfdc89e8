import COpenSSL

/// A key of OpenSSL's, freed with its last user.
private final class EVPKey: @unchecked Sendable {  // OpenSSL counts references atomically and never changes the key.
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }
    deinit { EVP_PKEY_free(handle) }

    /// Prepares an operation, runs it, and leaves no error behind in the thread's queue.
    func withContext<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        defer { ERR_clear_error() }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        return body(context)
    }
}

struct P256PublicKey: Verifier {
    private let key: EVPKey

    /// SubjectPublicKeyInfo up to the point: id-ecPublicKey, prime256v1, a bit string.
    private static func header(pointLength: Int) -> [UInt8] {
        let count = UInt8(pointLength)
        return [0x30, count + 24, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
            + [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, count + 1, 0x00]
    }

    /// - Parameter point: 33 or 65 bytes.
    init(point: [UInt8]) throws(KeyError) {
        OpenSSLLibrary.prepare()
        let info = Self.header(pointLength: point.count) + point
        defer { ERR_clear_error() }
        let handle = info.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PUBKEY(nil, &cursor, bytes.count)
        }
        guard let handle else { throw KeyError("not a point of P-256") }
        key = EVPKey(handle)
    }

    func verify(_ signature: Signature, ofDigest digest: [UInt8]) -> Bool {
        let der = signature.der
        return key.withContext { context in
            EVP_PKEY_verify_init(context) == 1
                && EVP_PKEY_verify(context, der, der.count, digest, digest.count) == 1
        } ?? false
    }

    var uncompressedPoint: [UInt8] {
        defer { ERR_clear_error() }
        return [4] + coordinate(OSSL_PKEY_PARAM_EC_PUB_X) + coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)
    }

    /// 32 bytes.
    private func coordinate(_ name: String) -> [UInt8] {
        var (number, bytes) = (OpaquePointer?.none, [UInt8](repeating: 0, count: 32))
        defer { BN_free(number) }
        // Cannot fail but for want of memory: the key is a point of the curve.
        if EVP_PKEY_get_bn_param(key.handle, name, &number) == 1 { BN_bn2binpad(number, &bytes, 32) }
        return bytes
    }
}

final class P256PrivateKey: Signer {
    private let key: EVPKey

    /// - Parameter scalar: one that the curve contains.
    init(scalar: [UInt8]) throws(KeyError) {
        OpenSSLLibrary.prepare()
        // ECPrivateKey without its public key, which OpenSSL then computes.
        var info: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] + scalar
        info += [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
        defer {
            OPENSSL_cleanse(&info, info.count)
            ERR_clear_error()
        }
        let handle = info.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PrivateKey(EVP_PKEY_EC, nil, &cursor, bytes.count)
        }
        guard let handle else { throw KeyError("not a private key of P-256") }
        key = EVPKey(handle)
    }

    init(pem: String) throws(KeyError) {
        if let reason = Self.problem(inPEM: pem) { throw KeyError(reason) }
        OpenSSLLibrary.prepare()
        defer { ERR_clear_error() }
        guard let handle = Self.readPEM(SecretBytes([UInt8](pem.utf8))) else {
            throw KeyError("the key inside the PEM block is damaged")
        }
        key = EVPKey(handle)
        guard EVP_PKEY_is_a(handle, "EC") == 1 else { throw KeyError("not an elliptic-curve key: P-256 expected") }
        guard Self.group(of: handle) == "prime256v1" else { throw KeyError("a key of another curve: P-256 expected") }
    }

    private static func readPEM(_ text: SecretBytes) -> OpaquePointer? {
        text.withBytes { bytes, count in
            guard let bio = BIO_new_mem_buf(bytes, Int32(clamping: count)) else { return nil }
            defer { BIO_free(bio) }
            // A callback that gives no password, so that nothing is ever asked on the terminal.
            return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
    }

    /// What can be said about a PEM text without decoding it.
    private static func problem(inPEM text: String) -> String? {
        let labels = text.split(whereSeparator: \.isNewline).compactMap { line -> Substring? in
            guard line.hasPrefix("-----BEGIN ") else { return nil }
            return line.dropFirst(11).prefix { $0 != "-" }
        }
        guard !labels.isEmpty else { return "not PEM: no line begins with -----BEGIN" }
        if labels.contains("ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
            return "the key is encrypted with a password: an unencrypted one expected"
        }
        guard labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) else {
            return "holds no private key, but: \(labels.joined(separator: ", ").prefix(60))"
        }
        guard text.contains("-----END ") else { return "the PEM block has no end: the file is cut off" }
        return nil
    }

    private static func group(of key: OpaquePointer) -> String {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func publicPoint() throws(KeyError) -> [UInt8] {
        var (point, count) = ([UInt8](repeating: 0, count: 65), 0)
        guard EVP_PKEY_get_octet_string_param(key.handle, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count) == 1
        else { throw KeyError("the key has no public half") }
        return Array(point.prefix(count))
    }

    func sign(digest: [UInt8]) throws(KeyError) -> Signature {
        let der = key.withContext { context -> [UInt8]? in
            // DER of two 32-byte integers takes at most 72 bytes.
            var (der, count) = ([UInt8](repeating: 0, count: 72), 72)
            guard EVP_PKEY_sign_init(context) == 1,
                EVP_PKEY_sign(context, &der, &count, digest, digest.count) == 1
            else { return nil }
            return Array(der.prefix(count))
        }
        guard let der, let signature = Signature(der: der, .p256) else { throw KeyError("signing failed") }
        return signature
    }
}
