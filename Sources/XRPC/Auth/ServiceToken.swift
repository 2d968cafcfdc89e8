import ATProto
import Crypto

/// What a service token says, before anybody has looked at its signature.
///
/// An account's server signs one for each call that it passes on, and an app may ask for one of its own.
/// Source: atproto.com/specs/xrpc#inter-service-authentication-jwt.
struct ServiceToken: Sendable {
    let jwt: JSONWebToken
    let curve: Curve
    /// The account that speaks, without the fragment that `iss` may have.
    let issuer: DID
    let audience: String
    let method: String?
    /// Seconds since 1970, as all times of a token.
    let expiresAt: Int64
    let issuedAt: Int64?
    let notBefore: Int64?
    let id: String?

    /// Longest `jti`; the reference's are 32 digits.
    static let maximumIDLength = 512

    /// - Throws: `InvalidToken`.
    init(_ text: String) throws(XRPCError) {
        guard let jwt = try? JSONWebToken(text) else { throw .invalidToken("not a JSON Web Token") }
        guard let header = try? JSON.decode(jwt.header, as: .plain), header.map != nil,
            let claims = try? JSON.decode(jwt.claims, as: .plain), claims.map != nil
        else { throw .invalidToken("the token's header or claims are not JSON objects") }
        self.jwt = jwt
        curve = try Self.curve(header)
        guard let iss = claims["iss"]?.string, let issuer = Self.did(iss) else {
            throw .invalidToken("the token's issuer (iss) is not a DID")
        }
        self.issuer = issuer
        guard let audience = claims["aud"]?.string else {
            throw XRPCError(401, "BadJwtAudience", "the token names no audience (aud)")
        }
        self.audience = audience
        method = try Self.text("lxm", in: claims)
        id = try Self.text("jti", in: claims)
        if let id, id.isEmpty || id.utf8.count > Self.maximumIDLength {
            throw .invalidToken("the token's jti is empty or too long")
        }
        guard let expiresAt = try Self.time("exp", in: claims) else {
            throw .invalidToken("the token never expires (exp)")
        }
        self.expiresAt = expiresAt
        issuedAt = try Self.time("iat", in: claims)
        notBefore = try Self.time("nbf", in: claims)
    }

    /// Access tokens, refresh tokens and DPoP proofs are JWTs too, signed by the same servers; none may pass for this.
    private static func curve(_ header: Value) throws(XRPCError) -> Curve {
        if let type = header["typ"], type.string?.uppercased() != "JWT" {
            throw .invalidToken("a token of another type (typ)")
        }
        guard header["crit"] == nil else {
            throw .invalidToken("the token has critical headers, which are not understood")
        }
        let algorithm = header["alg"]?.string
        guard let curve = Curve.allCases.first(where: { $0.algorithm == algorithm }) else {
            throw .invalidToken("the token's algorithm (alg) must be ES256 or ES256K")
        }
        return curve
    }

    /// A DID with or without a fragment behind it.
    private static func did(_ text: String) -> DID? {
        guard let hash = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return try? DID(text) }
        let fragment = text.utf8[hash...].dropFirst()
        guard !fragment.isEmpty, fragment.allSatisfy(Self.isFragmentByte) else { return nil }
        return try? DID(String(text[..<hash]))
    }

    private static func isFragmentByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func text(_ name: String, in claims: Value) throws(XRPCError) -> String? {
        guard let value = claims[name] else { return nil }
        guard let text = value.string else { throw .invalidToken("the token's \(name) is not a string") }
        return text
    }

    private static func time(_ name: String, in claims: Value) throws(XRPCError) -> Int64? {
        guard let value = claims[name] else { return nil }
        guard let time = value.integer, 0...Int64(1) << 40 ~= time else {
            throw .invalidToken("the token's \(name) is not a time in whole seconds")
        }
        return time
    }
}

extension ServiceToken {
    /// What a server asks of the tokens that it is shown.
    struct Rules: Sendable {
        /// This server's DID.
        var audience: String
        /// How far ahead a token may expire, in seconds.
        var maximumLifetime: Int64 = 300
        /// How far two clocks may differ, in seconds.
        var skew: Int64 = 30
    }

    /// Checks everything but the signature and the reuse.
    /// - Parameters:
    ///   - method: the NSID that is being called.
    ///   - now: seconds since 1970.
    func check(_ rules: Rules, method: String, now: Int64) throws(XRPCError) {
        guard expiresAt > now - rules.skew else { throw XRPCError(401, "ExpiredToken", "the token has expired") }
        guard names(rules.audience) else {
            throw XRPCError(401, "BadJwtAudience", "the token is meant for another service (aud)")
        }
        guard self.method == method else {
            let problem =
                self.method == nil ? "the token names no method (lxm)" : "the token is meant for another method (lxm)"
            throw XRPCError(401, "BadJwtLexiconMethod", "\(problem): \(method) expected")
        }
        guard expiresAt <= now + rules.maximumLifetime + rules.skew else {
            throw .invalidToken("the token expires more than \(rules.maximumLifetime) seconds from now")
        }
        if let issuedAt, issuedAt > now + rules.skew { throw .invalidToken("the token was issued in the future (iat)") }
        if let notBefore, notBefore > now + rules.skew { throw .invalidToken("the token is not valid yet (nbf)") }
    }

    /// The server's DID, with or without the fragment of one of its services.
    private func names(_ server: String) -> Bool {
        let (audience, server) = (audience.utf8, server.utf8)
        guard audience.starts(with: server) else { return false }
        let rest = audience.dropFirst(server.count)
        return rest.isEmpty
            || rest.first == UInt8(ascii: "#") && rest.count > 1 && rest.dropFirst().allSatisfy(Self.isFragmentByte)
    }

    /// High-S signatures pass, as with the reference.
    func isSigned(by key: PublicKey) -> Bool { key.curve == curve && jwt.isSigned(by: key) }

    /// By what a second use is known: the issuer's `jti`, or the signed text of a token without one. The signature is
    /// left out, since anybody can make a second one of it.
    var useID: ReplayGuard.Use {
        let identity =
            if let id { "j\u{0}\(issuer)\u{0}\(id)" } else {
                "t\u{0}" + (jwt.text.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(jwt.text[..<$0]) } ?? jwt.text)
            }
        return ReplayGuard.Use(identity, expiresAt: expiresAt)
    }
}
