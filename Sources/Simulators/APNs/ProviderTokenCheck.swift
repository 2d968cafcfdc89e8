import Crypto

/// Judges the `authorization` header of one connection. Confined to the simulator's loop.
///
/// Source: developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
struct ProviderTokenCheck {
    /// A provider that may send, and what its tokens are checked with.
    struct Provider {
        var keyID: String
        var teamID: String
        var topic: String
        var key: PublicKey
    }

    /// Apple refuses tokens older than this.
    static let maximumAgeSeconds: Int64 = 3600
    /// How far ahead a provider's clock may be.
    static let toleratedLeadSeconds: Int64 = 10
    /// A connection's token may change this often.
    static let minimumUpdateIntervalMilliseconds: Int64 = 20 * 60 * 1000
    /// Bounds what a connection can make the simulator remember.
    private static let rememberedTokens = 16

    private struct Verified {
        var provider: Provider
        var issuedAtSeconds: Int64
    }

    private let providers: [Provider]
    private let isStrict: Bool
    /// Signatures are checked once; the header is then compared byte by byte.
    private var verified: [[UInt8]: Verified] = [:]
    private var current: (header: [UInt8], sinceMilliseconds: Int64)?
    /// The key of the connection's first push binds the connection.
    private var boundKeyID: String?

    /// The last request came with a valid token.
    private(set) var hasSucceeded = false

    init(providers: [Provider], isStrict: Bool) {
        self.providers = providers
        self.isStrict = isStrict
    }

    /// The provider that the header proves.
    /// - Parameter header: the value of `authorization`, nil when there was none.
    mutating func provider(for header: [UInt8]?, nowMilliseconds now: Int64) throws(Refusal) -> Provider {
        hasSucceeded = false
        guard let header else { throw Refusal(.missingProviderToken, "no authorization header") }
        let token = try verify(header)
        if isStrict { try checkAge(token.issuedAtSeconds, nowSeconds: now / 1000) }
        try noteUpdate(header, token.provider, now: now)
        hasSucceeded = true
        return token.provider
    }

    private mutating func verify(_ header: [UInt8]) throws(Refusal) -> Verified {
        if let known = verified[header] { return known }
        let scheme = Array("bearer ".utf8)
        guard header.count > scheme.count,
            header.prefix(scheme.count).elementsEqual(scheme, by: { $0 | 0x20 == $1 | 0x20 })
        else { throw Refusal(.missingProviderToken, "authorization is not 'bearer TOKEN'") }
        let token = try read(String(decoding: header.dropFirst(scheme.count), as: UTF8.self))
        if verified.count >= Self.rememberedTokens { verified.removeAll(keepingCapacity: true) }
        verified[header] = token
        return token
    }

    private func read(_ text: String) throws(Refusal) -> Verified {
        func invalid(_ detail: String) -> Refusal { Refusal(.invalidProviderToken, detail) }
        guard let token = try? JSONWebToken(text) else { throw invalid("not a JWT") }
        guard let header = try? PayloadParser.parse(token.header), let claims = try? PayloadParser.parse(token.claims)
        else { throw invalid("header or claims are not JSON") }
        guard header["alg"]?.string == "ES256" else { throw invalid("alg is not ES256") }
        guard let keyID = header["kid"]?.string else { throw invalid("no kid") }
        guard let teamID = claims["iss"]?.string else { throw invalid("no iss") }
        guard case .integer(let issuedAt)? = claims["iat"] else { throw invalid("iat is not an integer") }
        guard let provider = providers.first(where: { $0.keyID == keyID }) else { throw invalid("unknown kid") }
        guard provider.teamID == teamID else { throw invalid("the key is not of team iss") }
        guard token.isSigned(by: provider.key) else { throw invalid("the signature is wrong") }
        return Verified(provider: provider, issuedAtSeconds: issuedAt)
    }

    private func checkAge(_ issuedAt: Int64, nowSeconds now: Int64) throws(Refusal) {
        let (age, overflow) = now.subtractingReportingOverflow(issuedAt)
        if overflow || age > Self.maximumAgeSeconds {
            throw Refusal(.expiredProviderToken, "iat is more than an hour ago")
        }
        if age < -Self.toleratedLeadSeconds { throw Refusal(.expiredProviderToken, "iat lies in the future") }
    }

    private mutating func noteUpdate(_ header: [UInt8], _ provider: Provider, now: Int64) throws(Refusal) {
        if let current, current.header == header { return }
        if let boundKeyID, boundKeyID != provider.keyID {
            throw Refusal(.unrelatedKeyIDInToken, "the connection began with another key")
        }
        if let current, isStrict, now - current.sinceMilliseconds < Self.minimumUpdateIntervalMilliseconds {
            throw Refusal(.tooManyProviderTokenUpdates, "a new token within 20 minutes")
        }
        current = (header, now)
        boundKeyID = provider.keyID
    }
}
