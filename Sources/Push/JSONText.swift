/// What stands between a string's quotes in JSON, escaping only what RFC 8259 §7 demands.
enum JSONText {
    /// Copies UTF-8 in which nothing must be escaped, as is most often the case. False when something must: then what was
    /// copied is of no use.
    static func copyPlain(from source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int) -> Bool
    {
        let (from, to) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
        var found: UInt64 = 0
        var index = 0
        while index + 8 <= count {
            let word = from.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            to.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
            found |= bytesToEscape(in: word)
            index += 8
        }
        while index < count {
            let byte = source[index]
            target[index] = byte
            if needsEscape(byte) { return false }
            index += 1
        }
        return found == 0
    }

    /// Bytes of `text` with its escapes.
    static func encodedCount(_ text: some StringProtocol) -> Int {
        var count = 0
        for byte in text.utf8 { count += !needsEscape(byte) ? 1 : letter(byte) == nil ? 6 : 2 }
        return count
    }

    static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Not 0 when one of eight bytes must be escaped: for each kind the high bit of a byte is set that is below a bound, at
    /// least of the first such one.
    private static func bytesToEscape(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ ones &* 0x22
        let backslashes = word ^ ones &* 0x5C
        let controls = (word &- ones &* 0x20) & ~word
        let found = controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return found & (ones &* 0x80)
    }

    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// What stands behind the backslash for bytes that have a short form.
    static func letter(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }
}
