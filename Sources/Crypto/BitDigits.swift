/// A positional encoding whose digits hold a whole number of bits, most significant first: base16, base32, base64.
///
/// Strict when decoding: a digit too many, or bits set that belong to no byte, is an error, so that each byte
/// sequence has exactly one text. Source: RFC 4648.
struct BitDigits: Sendable {
    let name: String
    let bitsPerDigit: Int
    private let digits: [UInt8]
    /// The value of each ASCII byte, 255 where it is no digit.
    private let values: [UInt8]

    init(name: String, digits: StaticString) {
        self.name = name
        self.digits = [UInt8](UnsafeBufferPointer(start: digits.utf8Start, count: digits.utf8CodeUnitCount))
        bitsPerDigit = self.digits.count.trailingZeroBitCount
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in self.digits.enumerated() { values[Int(digit)] = UInt8(value) }
        self.values = values
    }

    func encodedCount(_ byteCount: Int) -> Int { (byteCount * 8 + bitsPerDigit - 1) / bitsPerDigit }

    /// `prefix`, then the digits of `bytes`, then `padding` times `=`.
    func encode(_ bytes: UnsafeRawBufferPointer, prefix: UInt8? = nil, padding: Int = 0) -> String {
        let start = prefix == nil ? 0 : 1
        let end = start + encodedCount(bytes.count)
        return String(unsafeUninitializedCapacity: end + padding) { text in
            if let prefix { text[0] = prefix }
            digits.withUnsafeBufferPointer { write(bytes, digits: $0, into: text, at: start) }
            for index in end..<end + padding { text[index] = UInt8(ascii: "=") }
            return end + padding
        }
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, digits: UnsafeBufferPointer<UInt8>,
        into text: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) {
        let mask = UInt32(digits.count - 1)
        var (bits, held, index) = (UInt32(0), 0, start)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            held += 8
            while held >= bitsPerDigit {
                held -= bitsPerDigit
                text[index] = digits[Int(bits >> UInt32(held) & mask)]
                index += 1
            }
        }
        if held > 0 { text[index] = digits[Int(bits << UInt32(bitsPerDigit - held) & mask)] }
    }

    func decode(_ text: Span<UInt8>) throws(CodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * bitsPerDigit / 8)
        var (bits, held) = (UInt32(0), 0)
        for index in 0..<text.count {
            let value = values[Int(text[index])]
            guard value != 255 else { throw CodingError(name, "a character that is no digit") }
            bits = bits << UInt32(bitsPerDigit) | UInt32(value)
            held += bitsPerDigit
            guard held >= 8 else { continue }
            held -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
        guard held < bitsPerDigit else { throw CodingError(name, "a length that no bytes encode to") }
        guard bits & (1 << UInt32(held) - 1) == 0 else { throw CodingError(name, "the last digit has stray bits") }
        return bytes
    }
}
