/// Base64, with either alphabet. Source: RFC 4648 §4 and §5.
public enum Base64 {
    public enum Alphabet: Sendable {
        /// With `+` and `/`.
        case standard
        /// With `-` and `_`.
        case url
    }

    /// Whether `=` fills the last group of four digits.
    public enum Padding: Sendable {
        case absent
        case required
        /// When decoding, absent or whole; when encoding, absent.
        case optional
    }

    private static let standard = BitDigits(
        name: "base64", digits: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    private static let url = BitDigits(
        name: "base64url", digits: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    private static func codec(_ alphabet: Alphabet) -> BitDigits {
        switch alphabet {
        case .standard: standard
        case .url: url
        }
    }

    public static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard, padding: Padding = .absent) -> String
    {
        let codec = codec(alphabet)
        let fill = padding == .required ? (4 - codec.encodedCount(bytes.count) % 4) % 4 : 0
        return bytes.withUnsafeBytes { codec.encode($0, padding: fill) }
    }

    public static func decode(
        _ text: Span<UInt8>, _ alphabet: Alphabet = .standard, padding: Padding = .absent
    ) throws(CodingError) -> [UInt8] {
        let codec = codec(alphabet)
        var end = text.count
        while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        let isPadded = end < text.count
        if padding == .absent, isPadded { throw CodingError(codec.name, "padding") }
        if padding == .required || isPadded, text.count % 4 != 0 { throw CodingError(codec.name, "incomplete padding") }
        return try codec.decode(text.extracting(0..<end))
    }

    public static func decode(
        _ text: String, _ alphabet: Alphabet = .standard, padding: Padding = .absent
    ) throws(CodingError) -> [UInt8] {
        try decode(text.utf8.span, alphabet, padding: padding)
    }
}
