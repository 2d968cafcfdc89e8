/// Reads JSON (RFC 8259) strictly: unique keys, valid UTF-8, paired surrogates, nothing after the value.
struct PayloadParser {
    /// Why the bytes are no JSON, and where.
    struct Failure: Error, Hashable, CustomStringConvertible {
        var message: String
        var offset: Int
        var description: String { "\(message) at byte \(offset)" }
    }

    static let maximumDepth = 32

    static func parse(_ bytes: [UInt8]) throws(Failure) -> PayloadValue {
        var parser = PayloadParser(bytes: bytes)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.offset == bytes.count else { throw parser.failure("unexpected text") }
        return value
    }

    private let bytes: [UInt8]
    private var offset = 0

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func failure(_ message: String) -> Failure { Failure(message: message, offset: offset) }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(Failure) -> PayloadValue {
        guard depth <= Self.maximumDepth else { throw failure("too deep") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: StaticString, _ value: PayloadValue) throws(Failure) -> PayloadValue {
        let end = offset + word.utf8CodeUnitCount
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard end <= bytes.count, bytes[offset..<end].elementsEqual(expected) else {
            throw failure("unknown word")
        }
        offset = end
        return value
    }

    private mutating func object(depth: Int) throws(Failure) -> PayloadValue {
        offset += 1
        var members: [PayloadValue.Member] = []
        var keys: Set<[UInt8]> = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            let start = offset
            guard next == UInt8(ascii: "\"") else { throw failure("expected a key") }
            let key = try string()
            guard keys.insert(Array(key.utf8)).inserted else { throw Failure(message: "repeated key", offset: start) }
            skipSpace()
            guard take(":") else { throw failure("expected a colon") }
            members.append(.init(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("expected a comma") }
        }
    }

    private mutating func array(depth: Int) throws(Failure) -> PayloadValue {
        offset += 1
        var values: [PayloadValue] = []
        skipSpace()
        if take("]") { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw failure("expected a comma") }
        }
    }
}

extension PayloadParser {
    private mutating func string() throws(Failure) -> String {
        let start = offset
        offset += 1
        var text: [UInt8] = []
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw Failure(message: "text that is not UTF-8", offset: start)
                }
                return string
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw failure("bare control character")
            default: text.append(byte)
            }
        }
        throw failure("unfinished text")
    }

    private mutating func escape(into text: inout [UInt8]) throws(Failure) {
        guard let byte = next else { throw failure("unfinished text") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += UTF8.encode(try escapedScalar()).map(Array.init) ?? []
        default: throw failure("unknown escape")
        }
    }

    private mutating func escapedScalar() throws(Failure) -> Unicode.Scalar {
        var code = try fourDigits()
        if 0xD800...0xDBFF ~= code, take("\\"), take("u") {
            let low = try fourDigits()
            guard 0xDC00...0xDFFF ~= low else { throw failure("lone surrogate") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw failure("lone surrogate") }
        return scalar
    }

    private mutating func fourDigits() throws(Failure) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("broken escape")
            }
            code = code << 4 | UInt32(digit)
            offset += 1
        }
        return code
    }

    private mutating func digits() throws(Failure) {
        let start = offset
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { offset += 1 }
        if offset == start { throw failure(next == nil ? "unexpected end" : "unexpected character") }
    }

    private mutating func number() throws(Failure) -> PayloadValue {
        let start = offset
        _ = take("-")
        if !take("0") { try digits() }
        var isFraction = false
        if take(".") {
            isFraction = true
            try digits()
        }
        if take("e") || take("E") {
            isFraction = true
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if !isFraction, let integer = Int64(text) { return .integer(integer) }
        guard let fraction = Double(text), fraction.isFinite else {
            throw Failure(message: "number out of range", offset: start)
        }
        return .fraction(fraction)
    }
}
