import Crypto
import Synchronization

/// What browsers are let in by once they have shown the admin token: `expiry.nonce.code`, the code made with that token.
/// Survives a restart, and ends with its time, when it is signed out, or with the token. Thread-safe.
struct AdminSessions: Sendable {
    /// Seconds that a session lasts.
    static let lifetime: Int64 = 12 * 3600

    private let token: AdminToken
    /// Signed out before their time, with their expiry.
    private let ended = Ended()

    private final class Ended: Sendable {
        let sessions = Mutex<[String: Int64]>([:])
    }

    init(_ token: AdminToken) { self.token = token }

    /// - Parameter now: seconds since 1970.
    func begin(now: Int64) throws -> String {
        let claim = "\(now + Self.lifetime).\(Base64.encode(try SecureRandom.bytes(12), .url))"
        return "\(claim).\(Self.code(claim, token))"
    }

    func isValid(_ session: String, now: Int64) -> Bool {
        guard let expiry = expiry(of: session), expiry > now, expiry <= now + Self.lifetime else { return false }
        return ended.sessions.withLock { $0[session] == nil }
    }

    /// Ends a session before its time.
    func end(_ session: String, now: Int64) {
        guard let expiry = expiry(of: session), expiry > now else { return }
        ended.sessions.withLock { sessions in
            sessions = sessions.filter { $0.value > now }
            sessions[session] = expiry
        }
    }

    /// Nil for what this server has not written.
    private func expiry(of session: String) -> Int64? {
        guard session.utf8.count <= 200 else { return nil }
        let parts = session.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let code = Self.code("\(parts[0]).\(parts[1])", token)
        guard ConstantTime.areEqual([UInt8](code.utf8), [UInt8](parts[2].utf8)) else { return nil }
        return Int64(parts[0])
    }

    private static func code(_ claim: String, _ token: AdminToken) -> String {
        Base64.encode(token.code(for: "hark-admin-session \(claim)"), .url)
    }
}
