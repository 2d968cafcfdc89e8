/// Base58 with Bitcoin's alphabet: a big-endian number, one leading `1` for each leading zero byte.
///
/// Quadratic in length, so both directions refuse long input. Source: the multibase table, `base58btc`.
public enum Base58 {
    /// More than any key or CID needs.
    public static let maximumLength = 512

    private static let digits = [UInt8]("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// - Precondition: at most `maximumLength` bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count <= maximumLength)
        // Little-endian digits of the number.
        var number: [UInt8] = []
        for byte in bytes {
            var carry = Int(byte)
            for index in number.indices {
                carry += Int(number[index]) << 8
                number[index] = UInt8(carry % 58)
                carry /= 58
            }
            while carry > 0 {
                number.append(UInt8(carry % 58))
                carry /= 58
            }
        }
        let zeros = bytes.prefix { $0 == 0 }.count
        let text = [UInt8](repeating: digits[0], count: zeros) + number.reversed().map { digits[Int($0)] }
        return String(decoding: text, as: UTF8.self)
    }

    public static func decode(_ text: Span<UInt8>) throws(CodingError) -> [UInt8] {
        guard text.count <= maximumLength else { throw CodingError("base58btc", "longer than \(maximumLength) bytes") }
        // Little-endian bytes of the number.
        var number: [UInt8] = []
        var zeros = 0
        for index in 0..<text.count {
            let value = values[Int(text[index])]
            guard value != 255 else { throw CodingError("base58btc", "a character that is no digit") }
            if value == 0, zeros == index { zeros += 1 }
            var carry = Int(value)
            for place in number.indices {
                carry += Int(number[place]) * 58
                number[place] = UInt8(carry & 0xff)
                carry >>= 8
            }
            while carry > 0 {
                number.append(UInt8(carry & 0xff))
                carry >>= 8
            }
        }
        return [UInt8](repeating: 0, count: zeros) + number.reversed()
    }

    public static func decode(_ text: String) throws(CodingError) -> [UInt8] { try decode(text.utf8.span) }
}
