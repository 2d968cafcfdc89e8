/// Reads JSON from memory that outlives it, one token at a time: the grammar, strings and numbers.
///
/// Past the end it sees NUL bytes, which no token admits, so every read is within bounds.
struct JSONReader {
    /// What was wrong, and at which byte.
    struct Fault: Error {
        enum Kind {
            /// The text is no JSON.
            case grammar
            /// It is JSON, but not a value of the data model.
            case model
            /// It holds too many values.
            case size
        }

        var kind: Kind
        var message: String
        var offset: Int
    }

    let dialect: JSON.Dialect
    /// The byte to read next.
    var position = 0
    /// How many more values may be built.
    var remainingValues = JSON.maximumCount
    let end: Int
    private let bytes: UnsafeBufferPointer<UInt8>
    private var scratch: [UInt8] = []

    /// `bytes` must stay in place and unchanged while the reader is used.
    init(_ bytes: UnsafeBufferPointer<UInt8>, dialect: JSON.Dialect) {
        self.dialect = dialect
        self.bytes = bytes
        end = bytes.count
    }

    @inline(__always) var next: UInt8 { position < end ? bytes[position] : 0 }

    /// The bytes from `start` up to the present position.
    func passed(since start: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[start..<position])
    }

    func fault(_ kind: Fault.Kind, _ message: String, at offset: Int? = nil) -> Fault {
        Fault(kind: kind, message: message, offset: offset ?? position)
    }

    @inline(__always) mutating func skipWhitespace() {
        while position < end, next == 0x20 || (next <= 0x0D && (next == 0x0A || next == 0x0D || next == 0x09)) {
            position += 1
        }
    }

    /// Takes `byte` when it comes next, after white space.
    @inline(__always) mutating func take(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func expect(_ byte: UInt8, _ message: String) throws(Fault) {
        guard take(byte) else { throw fault(.grammar, message) }
    }

    /// Only white space may be left.
    mutating func finish() throws(Fault) {
        skipWhitespace()
        guard position == end else { throw fault(.grammar, "something follows the value") }
    }

    mutating func literal(_ text: StaticString) throws(Fault) {
        let count = text.utf8CodeUnitCount
        for index in 0..<count {
            guard position + index < end, bytes[position + index] == text.utf8Start[index] else {
                throw fault(.grammar, "not a JSON value")
            }
        }
        position += count
    }

    /// The member name that comes next, and its colon.
    mutating func key() throws(Fault) -> String {
        skipWhitespace()
        guard next == UInt8(ascii: "\"") else { throw fault(.grammar, "a member name must be a string") }
        let key = try string()
        try expect(UInt8(ascii: ":"), "a colon must follow a member name")
        return key
    }

    // MARK: Strings

    /// The string whose opening quote comes next.
    mutating func string() throws(Fault) -> String {
        position += 1
        let start = position
        let isASCII = moveToSpecial()
        if next == UInt8(ascii: "\"") {
            let text = try Self.text(passed(since: start).span, isASCII: isASCII, at: start)
            position += 1
            return text
        }
        return try escapedString(from: start)
    }

    /// Finishes a string in which an escape, or something bad, was met.
    private mutating func escapedString(from start: Int) throws(Fault) -> String {
        scratch.removeAll(keepingCapacity: true)
        var runStart = start
        while true {
            scratch.append(contentsOf: passed(since: runStart))
            switch next {
            case UInt8(ascii: "\""):
                let text = try Self.text(scratch.span, isASCII: false, at: start)
                position += 1
                return text
            case UInt8(ascii: "\\"): try appendEscape()
            default: throw fault(.grammar, position < end ? "a control character in a string" : "a string does not end")
            }
            runStart = position
            moveToSpecial()
        }
    }

    private static func text(_ bytes: Span<UInt8>, isASCII: Bool, at start: Int) throws(Fault) -> String {
        if isASCII { return String(copying: UTF8Span(unchecked: bytes, isKnownASCII: true)) }
        guard let utf8 = try? UTF8Span(validating: bytes) else {
            throw Fault(kind: .grammar, message: "a string is not UTF-8", offset: start)
        }
        return String(copying: utf8)
    }

    /// Decodes the escape that comes next into `scratch`.
    private mutating func appendEscape() throws(Fault) {
        let start = position
        position += 1
        if let byte = Self.simpleEscape(next) {
            scratch.append(byte)
            position += 1
            return
        }
        var scalar = UInt32(try hexEscape())
        if scalar & 0xFC00 == 0xD800 {
            guard next == UInt8(ascii: "\\"), position + 1 < end, bytes[position + 1] == UInt8(ascii: "u") else {
                throw fault(.model, "a lone surrogate", at: start)
            }
            position += 1
            let low = UInt32(try hexEscape())
            guard low & 0xFC00 == 0xDC00 else { throw fault(.model, "a lone surrogate", at: start) }
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
        }
        guard let unicode = Unicode.Scalar(scalar) else { throw fault(.model, "a lone surrogate", at: start) }
        scratch.append(contentsOf: UTF8.encode(unicode).unsafelyUnwrapped)
    }

    /// The 16 bits of `uXXXX`, whose `u` comes next.
    mutating func hexEscape() throws(Fault) -> UInt16 {
        guard next == UInt8(ascii: "u") else { throw fault(.grammar, "an unknown escape") }
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Self.hexDigit(next) else { throw fault(.grammar, "\\u needs four hexadecimal digits") }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    static func simpleEscape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Moves to the next quote, backslash or control character, or to the end. Returns whether all it passed is ASCII.
    @discardableResult
    mutating func moveToSpecial() -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        var seen: UInt64 = 0
        while position + 8 <= end {
            let word = UInt64(
                littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: UInt64.self))
            // Bytes equal to a quote or backslash become 0; a 0 byte, and one below 0x20, borrows into its top bit.
            // A borrow can only spoil bytes above the first hit, and only the first is used.
            let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let slash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let hits = ((quote &- ones) & ~quote | (slash &- ones) & ~slash | (word &- ones &* 0x20) & ~word) & tops
            if hits != 0 {
                let count = hits.trailingZeroBitCount / 8
                position += count
                return (seen | word & ~(UInt64.max << UInt64(count * 8))) & tops == 0
            }
            seen |= word
            position += 8
        }
        var byte = next
        while position < end, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            seen |= UInt64(byte)
            position += 1
            byte = next
        }
        return seen & tops == 0
    }

    // MARK: Numbers

    /// The integer that comes next. `1.0` is one; other fractions, exponents and more than 64 bits are refused.
    mutating func integer() throws(Fault) -> Int64 {
        let start = position
        let negative = next == UInt8(ascii: "-")
        if negative { position += 1 }
        var value: Int64 = 0
        var overflow = false
        let first = position
        while case let digit = Int64(next) - 0x30, 0...9 ~= digit {
            let (product, tooHigh) = value.multipliedReportingOverflow(by: 10)
            let (sum, tooFar) =
                negative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            overflow = overflow || tooHigh || tooFar
            value = sum
            position += 1
        }
        guard position > first, position == first + 1 || bytes[first] != UInt8(ascii: "0") else {
            throw fault(.grammar, "not a JSON number", at: start)
        }
        if next == UInt8(ascii: ".") || next | 0x20 == UInt8(ascii: "e") { try wholeFraction(from: start) }
        guard !overflow else { throw fault(.model, "an integer of more than 64 bits", at: start) }
        return value
    }

    /// Passes a fraction of zeros; anything else makes the number a float.
    private mutating func wholeFraction(from start: Int) throws(Fault) {
        var whole = true
        if next == UInt8(ascii: ".") {
            position += 1
            let first = position
            while UInt8(ascii: "0")...UInt8(ascii: "9") ~= next {
                whole = whole && next == UInt8(ascii: "0")
                position += 1
            }
            guard position > first else { throw fault(.grammar, "not a JSON number", at: start) }
        }
        if next | 0x20 == UInt8(ascii: "e") {
            whole = false
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            let first = position
            while UInt8(ascii: "0")...UInt8(ascii: "9") ~= next { position += 1 }
            guard position > first else { throw fault(.grammar, "not a JSON number", at: start) }
        }
        guard whole else { throw fault(.model, "a float: the data model has integers only", at: start) }
    }
}
