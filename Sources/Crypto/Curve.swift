/// The two elliptic curves of the AT Protocol. Source: atproto.com/specs/cryptography.
public enum Curve: Sendable, Hashable, CaseIterable {
    /// NIST P-256, secp256r1.
    case p256
    /// secp256k1.
    case k256

    /// The JWS name of ECDSA with SHA-256 on this curve: `ES256` or `ES256K`.
    public var algorithm: String {
        switch self {
        case .p256: "ES256"
        case .k256: "ES256K"
        }
    }

    /// The varint of the multicodec table that stands before a compressed point in a `did:key`.
    var multicodec: [UInt8] {
        switch self {
        case .p256: [0x80, 0x24]
        case .k256: [0xe7, 0x01]
        }
    }

    /// The order of the group, big-endian: scalars, r and s lie below it.
    var order: [UInt8] {
        switch self {
        case .p256:
            [
                0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
            ]
        case .k256:
            [
                0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
                0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
            ]
        }
    }

    /// True when 1 ≤ `scalar` < order. Takes 32 big-endian bytes.
    func contains(_ scalar: some Collection<UInt8>) -> Bool {
        scalar.count == 32 && scalar.contains { $0 != 0 } && scalar.lexicographicallyPrecedes(order)
    }

    /// `order - scalar`, for a scalar that the curve contains.
    func negated(_ scalar: some Collection<UInt8>) -> [UInt8] {
        var result = order
        var borrow = 0
        for (index, byte) in zip(result.indices.reversed(), scalar.reversed()) {
            let difference = Int(result[index]) - Int(byte) - borrow
            borrow = difference < 0 ? 1 : 0
            result[index] = UInt8(difference & 0xff)
        }
        return result
    }
}
