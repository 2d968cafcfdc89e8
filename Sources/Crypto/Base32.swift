/// Base32 in lowercase and without padding, as multibase's `b` has it. Source: RFC 4648 §6.
public enum Base32 {
    private static let codec = BitDigits(name: "base32", digits: "abcdefghijklmnopqrstuvwxyz234567")

    /// - Parameter prefix: an ASCII character to stand in front, such as multibase's `b`.
    public static func encode(_ bytes: [UInt8], prefix: UInt8? = nil) -> String {
        bytes.withUnsafeBytes { codec.encode($0, prefix: prefix) }
    }

    public static func decode(_ text: Span<UInt8>) throws(CodingError) -> [UInt8] { try codec.decode(text) }
    public static func decode(_ text: String) throws(CodingError) -> [UInt8] { try codec.decode(text.utf8.span) }
}
