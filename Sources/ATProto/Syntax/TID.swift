/// A timestamp identifier: microseconds since 1970 and a clock's id in 13 sortable characters.
///
/// TIDs order by time, as numbers and as text alike. Source: atproto.com/specs/tid.
public struct TID: SyntaxChecked, Comparable {
    public static let kind = "tid"

    /// Microseconds above 10 bits of clock id.
    public let rawValue: UInt64

    public init(_ text: String) throws(SyntaxError) {
        let bytes = text.utf8.span
        if let reason = Self.problem(in: bytes) { throw SyntaxError(kind: Self.kind, reason: reason) }
        var value: UInt64 = 0
        for index in 0..<13 { value = value << 5 | UInt64(Self.digit(bytes[index])) }
        rawValue = value
    }

    /// From a time and a clock.
    /// - Parameters:
    ///   - microseconds: since 1970; the low 54 bits count.
    ///   - clockID: tells apart clocks that run side by side; the low 10 bits count.
    public init(microseconds: Int64, clockID: UInt16) {
        rawValue = UInt64(bitPattern: microseconds) << 10 | UInt64(clockID & 0x3ff)
    }

    /// Microseconds since 1970.
    public var microseconds: Int64 { Int64(rawValue >> 10) }
    public var clockID: UInt16 { UInt16(rawValue & 0x3ff) }

    public var description: String {
        String(unsafeUninitializedCapacity: 13) { bytes in
            for index in 0..<13 {
                let digit = UInt8(truncatingIfNeeded: rawValue >> UInt64(60 - 5 * index)) & 31
                bytes[index] = digit < 6 ? .ascii("2") + digit : .ascii("a") + digit - 6
            }
            return 13
        }
    }

    public static func < (a: TID, b: TID) -> Bool { a.rawValue < b.rawValue }

    public static func problem(in text: Span<UInt8>) -> String? {
        guard text.count == 13 else { return "not 13 characters" }
        for index in 0..<13 where digit(text[index]) > 31 {
            return "a character outside 2-7 and a-z"
        }
        return digit(text[0]) < 16 ? nil : "the first character must be 2-7 or a-j"
    }

    /// 0 to 31 for the digits `234567abcdefghijklmnopqrstuvwxyz`, 255 for anything else.
    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt8 {
        if byte.isLowercase { return byte - .ascii("a") + 6 }
        return byte &- .ascii("2") < 6 ? byte - .ascii("2") : 255
    }
}
