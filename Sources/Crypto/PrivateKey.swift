/// A private key of one of the protocol's curves. Its description shows the public half alone.
public struct PrivateKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let publicKey: PublicKey
    private let signer: any Signer

    public var curve: Curve { publicKey.curve }

    /// A fresh random key.
    public static func generate(_ curve: Curve) throws(KeyError) -> PrivateKey {
        // A random scalar lies outside the order once in 2³² tries for P-256, in 2¹²⁸ for secp256k1.
        while true {
            let scalar = try SecureRandom.bytes(32)
            if curve.contains(scalar) { return try PrivateKey(curve, scalar: scalar) }
        }
    }

    /// - Parameter scalar: 32 bytes, big-endian, at least 1 and below the curve's order.
    public init(_ curve: Curve, scalar: [UInt8]) throws(KeyError) {
        guard curve.contains(scalar) else {
            throw KeyError("not a private key: 32 bytes below the curve's order expected")
        }
        switch curve {
        case .p256: try self.init(.p256, signer: P256PrivateKey(scalar: scalar))
        case .k256: try self.init(.k256, signer: K256PrivateKey(scalar: scalar))
        }
    }

    /// A P-256 key from PEM text, as Apple's `.p8` files are: `PRIVATE KEY` (PKCS #8) or `EC PRIVATE KEY` (SEC 1).
    public init(pem: String) throws(KeyError) {
        try self.init(.p256, signer: P256PrivateKey(pem: pem))
    }

    private init(_ curve: Curve, signer: any Signer) throws(KeyError) {
        publicKey = try PublicKey(curve, point: try signer.publicPoint())
        self.signer = signer
    }

    /// The ECDSA signature of `message` with SHA-256: r ‖ s, 64 bytes, low-S.
    ///
    /// The same message gives the same signature with secp256k1 (RFC 6979), and another one each time with P-256.
    public func sign(_ message: [UInt8]) throws(KeyError) -> [UInt8] {
        try signer.sign(digest: SHA256.hash(message)).normalized.bytes
    }

    public var description: String { "private key of \(publicKey)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

/// What a curve's library does for a private key.
protocol Signer: Sendable {
    func publicPoint() throws(KeyError) -> [UInt8]
    func sign(digest: [UInt8]) throws(KeyError) -> Signature
}
