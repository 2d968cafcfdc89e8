/// How HPACK writes numbers and text. Source: RFC 7541 §5.
enum HPACK {
    /// What an entry of a table counts beside its name and value (RFC 7541 §4.1).
    static let entryOverhead = 32
    /// A table's size before anybody has said another (RFC 9113 §6.5.2).
    static let defaultTableSize = 4096
    /// The first place behind the static table (RFC 7541 §2.3.3).
    static let firstDynamicIndex = 62

    /// Appends a number whose first `prefix` bits share a byte with `flags` in front of them (RFC 7541 §5.1).
    @inline(__always)
    static func append(_ number: Int, prefix: Int, flags: UInt8 = 0, to bytes: inout [UInt8]) {
        let limit = 1 << prefix - 1
        guard number >= limit else { return bytes.append(flags | UInt8(number)) }
        bytes.append(flags | UInt8(limit))
        var rest = number - limit
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Appends text without Huffman coding (RFC 7541 §5.2).
    static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        append(text.count, prefix: 7, to: &bytes)
        bytes += text
    }

    /// Takes a number with a prefix of `prefix` bits off the front; nil when it is cut off or beyond all use.
    static func number(prefix: Int, from bytes: inout Slice<UnsafeRawBufferPointer>) -> Int? {
        let limit = 1 << prefix - 1
        guard let first = bytes.popFirst() else { return nil }
        var number = Int(first) & limit
        guard number == limit else { return number }
        for shift in stride(from: 0, through: 28, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            number += Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }
}
