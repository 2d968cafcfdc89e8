/// A decentralized identifier: `did:METHOD:IDENTIFIER`, at most 2048 bytes.
///
/// Source: atproto.com/specs/did.
public struct DID: SyntaxChecked {
    public static let kind = "did"
    public static let maximumLength = 2048

    public let description: String

    public init(_ text: String) throws(SyntaxError) {
        try Self.check(text)
        description = text
    }

    init(checked text: String) { description = text }

    /// The method: `plc` in `did:plc:…`.
    public var method: String {
        String(description.utf8.dropFirst(4).prefix { $0 != .ascii(":") }) ?? ""
    }

    /// What follows the method: `example.com` in `did:web:example.com`.
    public var identifier: String {
        String(description.utf8.dropFirst(4).drop { $0 != .ascii(":") }.dropFirst()) ?? ""
    }

    public static func problem(in text: Span<UInt8>) -> String? {
        guard text.count <= maximumLength else { return "longer than 2048 bytes" }
        guard text.has("did:") else { return "does not begin with did:" }
        var index = 4
        while index < text.count, text[index].isLowercase { index += 1 }
        guard index > 4, index < text.count, text[index] == .ascii(":") else {
            return "the method must be lowercase letters, followed by a colon"
        }
        index += 1
        guard index < text.count else { return "nothing follows the method" }
        while index < text.count {
            guard isIdentifierByte(text[index]) else { return "a character that a DID cannot hold" }
            index += 1
        }
        let last = text[text.count - 1]
        return last == .ascii(":") || last == .ascii("%") ? "ends in a colon or a percent sign" : nil
    }

    @inline(__always)
    private static func isIdentifierByte(_ byte: UInt8) -> Bool {
        if byte.isAlphanumeric { return true }
        switch byte {
        case .ascii("."), .ascii("_"), .ascii(":"), .ascii("%"), .ascii("-"): return true
        default: return false
        }
    }
}
