/// Hexadecimal, lowercase. Source: RFC 4648 §8.
public enum Base16 {
    private static let codec = BitDigits(name: "base16", digits: "0123456789abcdef")

    public static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { codec.encode($0) } }

    public static func decode(_ text: String) throws(CodingError) -> [UInt8] { try codec.decode(text.utf8.span) }
}
