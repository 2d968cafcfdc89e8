import Crypto

/// The secret that opens `/_admin`, kept as its digest alone.
public struct AdminToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public static let lengths = 16...256

    private let digest: [UInt8]

    /// - Parameter text: 16 to 256 visible ASCII characters.
    /// - Throws: what is wrong with it, without showing it.
    public init(_ text: String) throws(ServerError) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ServerError("may hold visible ASCII characters only, and no spaces")
        }
        guard text.utf8.count >= Self.lengths.lowerBound else {
            throw ServerError(
                "is too short: \(Self.lengths.lowerBound) characters at least, such as \"openssl rand -hex 24\" prints")
        }
        guard text.utf8.count <= Self.lengths.upperBound else {
            throw ServerError("is longer than \(Self.lengths.upperBound) characters")
        }
        digest = SHA256.hash([UInt8](text.utf8))
    }

    /// Takes the same time whatever is given.
    func matches(_ candidate: String) -> Bool {
        ConstantTime.areEqual(SHA256.hash([UInt8](candidate.utf8)), digest)
    }

    /// Signs what only this server may have written. Another token signs differently.
    func code(for message: String) -> [UInt8] { HMAC.authenticate([UInt8](message.utf8), key: digest) }

    public var description: String { "an admin token" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
