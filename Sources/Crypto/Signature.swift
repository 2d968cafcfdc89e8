/// An ECDSA signature: r and s, each at least 1 and below the order of its curve.
struct Signature {
    let curve: Curve
    /// r ‖ s, 64 bytes.
    let bytes: [UInt8]

    init?(_ bytes: [UInt8], _ curve: Curve) {
        guard bytes.count == 64, curve.contains(bytes[..<32]), curve.contains(bytes[32...]) else { return nil }
        self.bytes = bytes
        self.curve = curve
    }

    /// From what OpenSSL makes: SEQUENCE { INTEGER r, INTEGER s }.
    init?(der: [UInt8], _ curve: Curve) {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der.dropFirst(2)
        guard let r = Self.takeInteger(&rest), let s = Self.takeInteger(&rest), rest.isEmpty else { return nil }
        self.init(r + s, curve)
    }

    /// True when s is at most half the order: of s and order - s, which verify alike, the one that the protocol allows.
    var isLowS: Bool {
        let s = bytes[32...]
        return !curve.negated(s).lexicographicallyPrecedes(s)
    }

    /// The same signature with the lower s.
    var normalized: Signature {
        isLowS ? self : Signature(curve, bytes[..<32] + curve.negated(bytes[32...]))
    }

    private init(_ curve: Curve, _ bytes: some Sequence<UInt8>) {
        self.curve = curve
        self.bytes = Array(bytes)
    }

    var der: [UInt8] {
        let integers = Self.integer(bytes[..<32]) + Self.integer(bytes[32...])
        return [0x30, UInt8(integers.count)] + integers
    }

    /// A DER INTEGER: no needless leading zero, and a zero in front of a set top bit.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let digits = bytes.drop { $0 == 0 }
        let sign: [UInt8] = digits.first.map { $0 >= 0x80 } ?? true ? [0] : []
        return [2, UInt8(digits.count + sign.count)] + sign + digits
    }

    private static func takeInteger(_ der: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard der.popFirst() == 2, let length = der.popFirst(), length <= der.count else { return nil }
        let digits = der.prefix(Int(length)).drop { $0 == 0 }
        der = der.dropFirst(Int(length))
        guard digits.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
