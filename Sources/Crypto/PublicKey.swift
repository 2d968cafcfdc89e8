/// A public key of one of the protocol's curves, checked to be a point of it.
public struct PublicKey: Sendable, Hashable, CustomStringConvertible {
    public let curve: Curve
    /// The compressed point, 33 bytes (SEC 1, §2.3.3).
    public let point: [UInt8]
    private let verifier: any Verifier

    /// - Parameter point: compressed (33 bytes) or uncompressed (65 bytes).
    public init(_ curve: Curve, point: [UInt8]) throws(KeyError) {
        let isCompressed = point.count == 33 && (point[0] == 2 || point[0] == 3)
        guard isCompressed || point.count == 65 && point[0] == 4 else {
            throw KeyError("not a point of an elliptic curve in SEC 1 form")
        }
        switch curve {
        case .p256: verifier = try P256PublicKey(point: point)
        case .k256: verifier = try K256PublicKey(point: point)
        }
        self.curve = curve
        self.point = isCompressed ? point : [2 | point[64] & 1] + point[1...32]
    }

    /// From `did:key:z…`.
    public init(didKey: String) throws(KeyError) {
        guard didKey.hasPrefix("did:key:") else { throw KeyError("does not begin with did:key:") }
        try self.init(multikey: String(didKey.dropFirst(8)))
    }

    /// From the `publicKeyMultibase` of a `Multikey`: base58btc of a multicodec prefix and a compressed point.
    public init(multikey: String) throws(KeyError) {
        let bytes = try Self.decodeBase58(multikey)
        for curve in Curve.allCases where bytes.starts(with: curve.multicodec) {
            guard bytes.count == 35 else { throw KeyError("the point is not compressed") }
            try self.init(curve, point: Array(bytes.dropFirst(2)))
            return
        }
        throw KeyError("neither a P-256 nor a secp256k1 key")
    }

    /// From the `publicKeyMultibase` of the older suites `EcdsaSecp256r1VerificationKey2019` and
    /// `EcdsaSecp256k1VerificationKey2019`: base58btc of a point, with no prefix to name the curve.
    public init(_ curve: Curve, multibase: String) throws(KeyError) {
        try self.init(curve, point: try Self.decodeBase58(multibase))
    }

    private static func decodeBase58(_ text: String) throws(KeyError) -> [UInt8] {
        guard text.utf8.first == UInt8(ascii: "z") else { throw KeyError("not multibase base58btc") }
        do { return try Multibase.decode(text) } catch { throw KeyError(error.description) }
    }

    /// The point with both its coordinates, 65 bytes (SEC 1, §2.3.3).
    public var uncompressedPoint: [UInt8] { verifier.uncompressedPoint }

    public var multikey: String { Multibase.encodeBase58(curve.multicodec + point) }
    public var didKey: String { "did:key:" + multikey }
    public var description: String { didKey }

    /// True when `signature` is this key's ECDSA signature of `message` with SHA-256.
    /// - Parameters:
    ///   - signature: r ‖ s, 64 bytes.
    ///   - requireLowS: refuses the second valid form of each signature, as the protocol does for commits.
    public func verify(_ signature: [UInt8], of message: [UInt8], requireLowS: Bool = true) -> Bool {
        verify(signature, ofDigest: SHA256.hash(message), requireLowS: requireLowS)
    }

    /// As above, for a message whose SHA-256 digest is known.
    public func verify(_ signature: [UInt8], ofDigest digest: [UInt8], requireLowS: Bool = true) -> Bool {
        guard digest.count == SHA256.byteCount, let signature = Signature(signature, curve) else { return false }
        if !signature.isLowS {
            if requireLowS { return false }
            return verifier.verify(signature.normalized, ofDigest: digest)
        }
        return verifier.verify(signature, ofDigest: digest)
    }

    public static func == (a: PublicKey, b: PublicKey) -> Bool { a.curve == b.curve && a.point == b.point }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(curve)
        hasher.combine(point)
    }
}

/// What a curve's library does for a public key.
protocol Verifier: Sendable {
    /// - Parameter signature: low-S.
    func verify(_ signature: Signature, ofDigest digest: [UInt8]) -> Bool
    var uncompressedPoint: [UInt8] { get }
}
