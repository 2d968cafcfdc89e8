/// A text with a syntax of its own, which is checked byte by byte and without allocating.
public protocol SyntaxChecked: Sendable, Hashable, CustomStringConvertible {
    /// The name of the syntax, as lexicons' `format` has it.
    static var kind: String { get }

    /// What is wrong with `text`; nil when it is valid.
    static func problem(in text: Span<UInt8>) -> String?
}

extension SyntaxChecked {
    /// True when `text` has this syntax: the check alone, for whoever does not need the value.
    public static func isValid(_ text: String) -> Bool { problem(in: text.utf8.span) == nil }

    static func check(_ text: String) throws(SyntaxError) {
        if let reason = problem(in: text.utf8.span) { throw SyntaxError(kind: kind, reason: reason) }
    }
}

extension UInt8 {
    @inline(__always) var isDigit: Bool { self &- 0x30 < 10 }
    @inline(__always) var isLowercase: Bool { self &- 0x61 < 26 }
    @inline(__always) var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }
    @inline(__always) var isAlphanumeric: Bool { isLetter || isDigit }

    @inline(__always) static func ascii(_ character: Unicode.Scalar) -> UInt8 { UInt8(ascii: character) }
}

extension Span<UInt8> {
    /// True when the bytes from `offset` on begin with `prefix`.
    func has(_ prefix: StaticString, at offset: Int = 0) -> Bool {
        let length = prefix.utf8CodeUnitCount
        guard count - offset >= length else { return false }
        for index in 0..<length where self[offset + index] != prefix.utf8Start[index] { return false }
        return true
    }
}
