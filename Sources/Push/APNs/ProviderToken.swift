import Crypto

/// The JWT that proves who sends: ES256, one per key, shared by all its connections. Never shown.
///
/// Apple accepts a token for an hour after its `iat`, and at most one new token in 20 minutes: it is renewed at
/// 50 minutes, and on demand as `refresh` has it, never within 20 minutes of the renewal before. Time is handed in, in
/// milliseconds since 1970.
///
/// Source: developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
struct ProviderToken: Sendable, CustomStringConvertible, CustomReflectable {
    static let renewal: Int64 = 50 * 60_000
    static let leastInterval: Int64 = 20 * 60_000

    /// The value of the `authorization` field.
    private(set) var authorization: [UInt8]
    /// Counts the tokens made. A request that remembers it can tell whether a newer token is there.
    private(set) var generation: Int
    private var issuedAt: Int64
    private var renewedAt: Int64?
    private let key: PrivateKey
    private let keyID: String
    private let teamID: String

    /// - Parameter generation: beyond those of any key that was used before.
    init(key: PrivateKey, keyID: String, teamID: String, now: Int64, generation: Int = 1) throws(KeyError) {
        self.generation = generation
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        issuedAt = now
        authorization = try Self.sign(key: key, keyID: keyID, teamID: teamID, now: now)
    }

    /// Renews the token when it is due.
    mutating func keepFresh(now: Int64) {
        let age = now - issuedAt
        // A negative age: the clock was set back, and the token claims to be from the future.
        if age >= Self.renewal || age < -60_000 { renew(now: now) }
    }

    /// Replaces a token that Apple calls expired, whichever of the requests that carried it says so first.
    ///
    /// - Parameter stale: the generation that the refused request carried.
    /// - Returns: true when a newer token is there now.
    mutating func refresh(stale: Int, now: Int64) -> Bool {
        guard stale == generation else { return true }
        if let renewedAt, now - renewedAt < Self.leastInterval { return false }
        return renew(now: now)
    }

    func isSigned(by other: PrivateKey, id: String, teamID: String) -> Bool {
        key.publicKey == other.publicKey && keyID == id && self.teamID == teamID
    }

    @discardableResult
    private mutating func renew(now: Int64) -> Bool {
        // Without randomness there is no signature: the present token serves on, and this is tried again.
        guard let fresh = try? Self.sign(key: key, keyID: keyID, teamID: teamID, now: now) else { return false }
        authorization = fresh
        issuedAt = now
        renewedAt = now
        generation += 1
        return true
    }

    private static func sign(key: PrivateKey, keyID: String, teamID: String, now: Int64) throws(KeyError) -> [UInt8] {
        var header = JSONObjectWriter()
        header.member("alg", "ES256")
        header.member("kid", keyID)
        var claims = JSONObjectWriter()
        claims.member("iss", teamID)
        claims.member("iat", Int(now / 1000))
        let token = try JSONWebToken(header: header.finish(), claims: claims.finish(), signedBy: key)
        return Array("bearer ".utf8) + token.text.utf8
    }

    var description: String { "provider token of key \(keyID)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
