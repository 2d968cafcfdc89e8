/// A signed token in compact form: `header.claims.signature`. Header and claims are JSON that this type does not read.
///
/// Source: RFC 7515, RFC 7519. What the header claims to be signed with is the caller's to check.
public struct JSONWebToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// Tokens of services are some hundred bytes long; anything longer than this is refused unread.
    public static let maximumLength = 16_384

    /// The JSON of the header, `{"alg":"ES256",…}`.
    public let header: [UInt8]
    /// The JSON of the claims, `{"iss":…}`.
    public let claims: [UInt8]
    /// r ‖ s.
    public let signature: [UInt8]
    /// The token itself: a secret.
    public let text: String

    /// Makes a token, signed with ES256 or ES256K as the key's curve has it.
    public init(header: [UInt8], claims: [UInt8], signedBy key: PrivateKey) throws(KeyError) {
        self.header = header
        self.claims = claims
        let signed = Base64.encode(header, .url) + "." + Base64.encode(claims, .url)
        signature = try key.sign([UInt8](signed.utf8))
        text = signed + "." + Base64.encode(signature, .url)
    }

    /// Reads a token without trusting it: see `isSigned(by:)`.
    public init(_ text: String) throws(CodingError) {
        guard text.utf8.count <= Self.maximumLength else { throw CodingError("JWT", "too long") }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw CodingError("JWT", "not three parts with dots between") }
        header = try Base64.decode(String(Substring(parts[0])), .url)
        claims = try Base64.decode(String(Substring(parts[1])), .url)
        signature = try Base64.decode(String(Substring(parts[2])), .url)
        guard !header.isEmpty, !claims.isEmpty else { throw CodingError("JWT", "an empty part") }
        self.text = text
    }

    /// True when `key` signed this header and these claims.
    ///
    /// High-S signatures pass by default: RFC 7515 knows no such rule, and not every signer lowers s.
    public func isSigned(by key: PublicKey, requireLowS: Bool = false) -> Bool {
        guard let lastDot = text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return key.verify(signature, of: [UInt8](text.utf8[..<lastDot]), requireLowS: requireLowS)
    }

    public var description: String { "a JSON Web Token" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
