import ATProto
import Crypto
import Identity

/// Tells whose request it is, by the service token that it carries. Thread-safe.
struct ServiceAuth: Sendable {
    /// Where the keys come from: documents as remembered, and as they are now.
    struct Keys: Sendable {
        var document: @Sendable (DID) async throws(IdentityError) -> DIDDocument
        /// Nil when it was asked for too often.
        var refreshed: @Sendable (DID) async throws(IdentityError) -> DIDDocument?
    }

    private let rules: ServiceToken.Rules
    private let keys: Keys
    private let replays: ReplayGuard
    /// Seconds since 1970.
    private let now: @Sendable () -> Int64

    init(
        rules: ServiceToken.Rules, keys: Keys, usedTokens capacity: Int, now: @escaping @Sendable () -> Int64
    ) {
        self.rules = rules
        self.keys = keys
        self.now = now
        replays = ReplayGuard(capacity: capacity, skew: rules.skew)
    }

    var usedTokens: Int { replays.count }

    /// The viewer.
    /// - Parameters:
    ///   - authorization: the header's value.
    ///   - method: the NSID that is being called.
    func viewer(authorization: String?, method: String) async throws(XRPCError) -> DID {
        let token = try ServiceToken(try Self.bearer(authorization))
        try token.check(rules, method: method, now: now())
        try await checkSignature(of: token)
        // After the signature, so that strangers can neither fill the memory nor use up another's token. The time may
        // have moved on while keys were fetched.
        let time = now()
        guard token.expiresAt > time - rules.skew else { throw XRPCError(401, "ExpiredToken", "the token has expired") }
        switch replays.claim(token.useID, now: time) {
        case .fresh: return token.issuer
        case .used: throw .invalidToken("the token has been used before (jti)")
        case .full: throw .overloaded
        }
    }

    private static func bearer(_ authorization: String?) throws(XRPCError) -> String {
        guard let authorization else { throw .authMissing }
        let parts = authorization.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, Substring(parts[0]).lowercased() == "bearer" else {
            throw .invalidToken("the Authorization header must be: Bearer TOKEN")
        }
        return String(Substring(parts[1]).drop { $0 == " " })
    }

    private func checkSignature(of token: ServiceToken) async throws(XRPCError) {
        let known: PublicKey?
        do throws(IdentityError) {
            known = try await keys.document(token.issuer).signingKey
            if let known, token.isSigned(by: known) { return }
            // The account may have changed its key since.
            if let key = try await keys.refreshed(token.issuer)?.signingKey, token.isSigned(by: key) { return }
        } catch { throw XRPCError(error) }
        throw .invalidToken(
            known == nil
                ? "the token's issuer has no key: none in its DID document that can be used"
                : "the token is not signed by its issuer's key")
    }
}

extension XRPCError {
    /// A document that cannot be had is the token's fault where there is none, and otherwise nobody's here.
    fileprivate init(_ error: IdentityError) {
        self =
            switch error {
            case .unsupported, .notFound, .forbiddenHost:
                .invalidToken("the token's issuer has no key: \(error)")
            case .malformed, .unreachable: XRPCError(502, "UpstreamFailure", "\(error)")
            case .timedOut: XRPCError(504, "UpstreamTimeout", "\(error)")
            case .busy: .overloaded
            }
    }
}
