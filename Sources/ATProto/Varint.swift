/// Unsigned LEB128 in its shortest form, at most 63 bits. Source: github.com/multiformats/unsigned-varint.
enum Varint {
    /// The number at `offset`, which moves behind it; nil when there is none, or not in shortest form.
    static func read(_ bytes: Span<UInt8>, at offset: inout Int) -> UInt64? {
        var (value, shift) = (UInt64(0), UInt64(0))
        while offset < bytes.count, shift < 63 {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return byte == 0 && shift > 0 ? nil : value }
            shift += 7
        }
        return nil
    }

    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
