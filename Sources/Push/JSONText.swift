/// Strings as JSON, escaping only what RFC 8259 §7 demands.
enum JSONText {
    /// With the quotes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { utf8 in
            if isPlain(utf8) { bytes.append(contentsOf: utf8) } else { appendEscaped(text, to: &bytes) }
        }
        if isWritten == nil { appendEscaped(text, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether nothing needs to be escaped, as is most often the case. Looks at all bytes, many at a time.
    private static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in utf8 {
            found |= byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
        }
        return found == 0
    }

    private static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x20...: bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "\\"))
                if let letter = letter(byte) {
                    bytes.append(letter)
                } else {
                    bytes += "u00".utf8
                    bytes.append(hex[Int(byte >> 4)])
                    bytes.append(hex[Int(byte & 15)])
                }
            }
        }
    }

    /// Bytes that `append` would write between the quotes.
    static func encodedCount(_ text: some StringProtocol) -> Int {
        var count = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): count += 2
            case 0x20...: count += 1
            default: count += letter(byte) == nil ? 6 : 2
            }
        }
        return count
    }

    private static let hex = Array("0123456789abcdef".utf8)

    private static func letter(_ control: UInt8) -> UInt8? {
        switch control {
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }
}
