/// Reads JSON5: comments, unquoted keys, single quotes, trailing commas, hexadecimal numbers.
///
/// Stricter than the specification in one point: a key that stands twice is refused, not overwritten.
struct JSON5Parser {
    static let maximumDepth = 32

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var line = 1
    private var lineStart = 0

    static func parse(_ bytes: [UInt8]) throws(JSON5Error) -> JSON5 {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw JSON5Error(line: 1, column: 1, message: "the file is not UTF-8 text")
        }
        var parser = JSON5Parser(scalars: Array(text.unicodeScalars))
        let value = try parser.value(depth: 0)
        try parser.skipSpace()
        guard parser.next == nil else { throw parser.unexpected("the end of the file") }
        return value
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSON5Error) -> JSON5 {
        guard depth <= Self.maximumDepth else { throw failure("nested deeper than \(Self.maximumDepth) levels") }
        try skipSpace()
        let start = line
        return JSON5(content: try content(depth: depth), line: start)
    }

    private mutating func content(depth: Int) throws(JSON5Error) -> JSON5.Content {
        switch next {
        case "{": return .object(try members(depth: depth))
        case "[": return .array(try elements(depth: depth))
        case "\"", "'": return .string(try quoted())
        case let scalar? where "+-.0123456789".unicodeScalars.contains(scalar): return .number(try number())
        default: return try word()
        }
    }

    private mutating func members(depth: Int) throws(JSON5Error) -> [JSON5.Member] {
        var members: [JSON5.Member] = []
        var keys: Set<String> = []
        advance()
        while true {
            try skipSpace()
            if take("}") { return members }
            let keyLine = line
            let place = failure("")
            let key = next == "\"" || next == "'" ? try quoted() : try identifier()
            guard keys.insert(key).inserted else {
                throw JSON5Error(line: place.line, column: place.column, message: "\(key) stands here a second time")
            }
            try skipSpace()
            guard take(":") else { throw unexpected("a colon after \(key)") }
            members.append(JSON5.Member(key: key, line: keyLine, value: try value(depth: depth + 1)))
            try skipSpace()
            if take("}") { return members }
            guard take(",") else { throw unexpected("a comma or }") }
        }
    }

    private mutating func elements(depth: Int) throws(JSON5Error) -> [JSON5] {
        var elements: [JSON5] = []
        advance()
        while true {
            try skipSpace()
            if take("]") { return elements }
            elements.append(try value(depth: depth + 1))
            try skipSpace()
            if take("]") { return elements }
            guard take(",") else { throw unexpected("a comma or ]") }
        }
    }

    private mutating func word() throws(JSON5Error) -> JSON5.Content {
        guard let scalar = next, isIdentifierStart(scalar) else { throw unexpected("a value") }
        let place = failure("")
        let word = try identifier()
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "Infinity": return .number(.infinity)
        case "NaN": return .number(.nan)
        default:
            throw JSON5Error(line: place.line, column: place.column, message: "\(word) needs quotes around it")
        }
    }

    // MARK: Numbers

    private mutating func number() throws(JSON5Error) -> Double {
        var text = ""
        if let sign = next, sign == "+" || sign == "-" {
            text.unicodeScalars.append(sign)
            advance()
        }
        let digitsStart = index
        while let scalar = next, isIdentifierPart(scalar) || scalar == "." || isExponentSign(scalar) { advance() }
        var digits = ""
        digits.unicodeScalars.append(contentsOf: scalars[digitsStart..<index])
        let negative = text == "-"
        if digits == "Infinity" { return negative ? -.infinity : .infinity }
        if digits == "NaN" { return .nan }
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            guard let value = UInt64(digits.dropFirst(2), radix: 16) else {
                throw failure("not a number: \(digits.printable)")
            }
            return negative ? -Double(value) : Double(value)
        }
        guard let value = Self.decimal(digits) else { throw failure("not a number: \(digits.printable)") }
        return negative ? -value : value
    }

    /// Digits with a point perhaps at either end, and an exponent; no leading zeros.
    private static func decimal(_ text: String) -> Double? {
        let bytes = Array(text.utf8)
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard bytes.allSatisfy({ isDigit($0) || ".eE+-".utf8.contains($0) }), bytes.prefix(2).contains(where: isDigit)
        else { return nil }
        if bytes.count > 1, bytes[0] == UInt8(ascii: "0"), isDigit(bytes[1]) { return nil }
        if text.hasPrefix(".") { return Double("0" + text) }
        return Double(text.hasSuffix(".") ? text + "0" : text)
    }

    /// A sign that follows an `e`.
    private func isExponentSign(_ scalar: Unicode.Scalar) -> Bool {
        (scalar == "+" || scalar == "-") && index > 0 && (scalars[index - 1] == "e" || scalars[index - 1] == "E")
    }

    // MARK: Texts

    private mutating func quoted() throws(JSON5Error) -> String {
        let start = failure("a text that has no closing quote")
        let quote = next
        advance()
        var text = String.UnicodeScalarView()
        while let scalar = next {
            if scalar == quote {
                advance()
                return String(text)
            }
            if scalar == "\n" || scalar == "\r" { throw start }
            advance()
            if scalar == "\\" {
                if let escaped = try escape() { text.append(escaped) }
            } else {
                text.append(scalar)
            }
        }
        throw start
    }

    /// What follows a backslash; nil for a line that goes on.
    private mutating func escape() throws(JSON5Error) -> Unicode.Scalar? {
        guard let scalar = next else { throw failure("a text that ends in a backslash") }
        advance()
        switch scalar {
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{B}"
        case "0": return "\0"
        case "x": return Unicode.Scalar(UInt8(truncatingIfNeeded: try hexadecimal(digits: 2)))
        case "u": return try unicodeEscape()
        case "\r":
            if next == "\n" { advance() }
            return nil
        case "\n", "\u{2028}", "\u{2029}": return nil
        case "1"..."9": throw failure("\\\(scalar) is no escape")
        default: return scalar
        }
    }

    /// After `\u`: one code unit, or the two of a surrogate pair.
    private mutating func unicodeEscape() throws(JSON5Error) -> Unicode.Scalar {
        let unit = try hexadecimal(digits: 4)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, take("\\"), take("u") else { throw failure("half of a surrogate pair") }
        let low = try hexadecimal(digits: 4)
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw failure("half of a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal(digits: Int) throws(JSON5Error) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let scalar = next, let digit = Character(scalar).hexDigitValue, scalar.isASCII else {
                throw unexpected("a hexadecimal digit")
            }
            value = value << 4 | UInt32(digit)
            advance()
        }
        return value
    }

    private mutating func identifier() throws(JSON5Error) -> String {
        guard let first = next, isIdentifierStart(first) else { throw unexpected("a key") }
        var text = String.UnicodeScalarView()
        while let scalar = next, isIdentifierPart(scalar) {
            text.append(scalar)
            advance()
        }
        return String(text)
    }

    private func isIdentifierStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar == "_" || scalar.properties.isIDStart
    }

    private func isIdentifierPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar.properties.isIDContinue || scalar == "\u{200C}" || scalar == "\u{200D}"
    }

    // MARK: Moving

    private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func advance() {
        let scalar = scalars[index]
        index += 1
        if scalar == "\n" || scalar == "\u{2028}" || scalar == "\u{2029}" || (scalar == "\r" && next != "\n") {
            line += 1
            lineStart = index
        }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        advance()
        return true
    }

    /// Passes white space and comments.
    private mutating func skipSpace() throws(JSON5Error) {
        while let scalar = next {
            if scalar == "\u{FEFF}" || scalar.properties.isWhitespace {
                advance()
            } else if scalar == "/", index + 1 < scalars.count, scalars[index + 1] == "/" {
                while let scalar = next, scalar != "\n", scalar != "\r" { advance() }
            } else if scalar == "/", index + 1 < scalars.count, scalars[index + 1] == "*" {
                try skipBlockComment()
            } else {
                return
            }
        }
    }

    private mutating func skipBlockComment() throws(JSON5Error) {
        let start = failure("a comment that is never closed")
        advance()
        advance()
        while next != nil {
            if take("*") {
                if take("/") { return }
            } else {
                advance()
            }
        }
        throw start
    }

    private func failure(_ message: String) -> JSON5Error {
        JSON5Error(line: line, column: index - lineStart + 1, message: message)
    }

    private func unexpected(_ wanted: String) -> JSON5Error {
        guard let next else { return failure("the file ends where \(wanted) should stand") }
        return failure("\(String(next).printable) where \(wanted) should stand")
    }
}
