/// Bytes as text behind a character that names the encoding. Source: the multibase table.
public enum Multibase {
    /// Decodes base16 (`f`), base32 (`b`), base58btc (`z`), base64 (`m`) and base64url (`u`), all unpadded.
    public static func decode(_ text: String) throws(CodingError) -> [UInt8] {
        let bytes = text.utf8.span
        guard !bytes.isEmpty else { throw CodingError("multibase", "empty") }
        let digits = bytes.extracting(1..<bytes.count)
        switch bytes[0] {
        case UInt8(ascii: "b"): return try Base32.decode(digits)
        case UInt8(ascii: "z"): return try Base58.decode(digits)
        case UInt8(ascii: "m"): return try Base64.decode(digits)
        case UInt8(ascii: "u"): return try Base64.decode(digits, .url)
        case UInt8(ascii: "f"): return try Base16.decode(String(text.dropFirst()))
        default: throw CodingError("multibase", "an unknown encoding")
        }
    }

    public static func encodeBase58(_ bytes: [UInt8]) -> String { "z" + Base58.encode(bytes) }
    public static func encodeBase32(_ bytes: [UInt8]) -> String { Base32.encode(bytes, prefix: UInt8(ascii: "b")) }
}
