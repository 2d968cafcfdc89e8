/// A JSON value of a notification's payload. Unlike the protocol's own JSON it has fractions (`relevance-score`).
enum PayloadValue: Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case fraction(Double)
    case string(String)
    case array([PayloadValue])
    /// In order of appearance; keys are unique.
    case object([Member])

    struct Member: Hashable {
        var key: String
        var value: PayloadValue
    }

    var string: String? { if case .string(let value) = self { value } else { nil } }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var object: [Member]? { if case .object(let members) = self { members } else { nil } }

    /// A number of either kind.
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .fraction(let value): value
        default: nil
        }
    }

    subscript(key: String) -> PayloadValue? { object?.first { $0.key == key }?.value }
}

extension PayloadValue {
    /// Appends the value as compact JSON.
    func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .integer(let value): output += String(value).utf8
        case .fraction(let value): output += String(value).utf8
        case .string(let value): Self.write(value, to: &output)
        case .array(let values): Self.write(values, between: "[", "]", to: &output) { $0.write(to: &$1) }
        case .object(let members):
            Self.write(members, between: "{", "}", to: &output) { member, output in
                Self.write(member.key, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between open: Unicode.Scalar, _ close: Unicode.Scalar, to output: inout [UInt8],
        each: (Element, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        for (place, element) in elements.enumerated() {
            if place > 0 { output.append(UInt8(ascii: ",")) }
            each(element, &output)
        }
        output.append(UInt8(ascii: close))
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                output += "\\u00".utf8
                output += [hexDigit(byte >> 4), hexDigit(byte & 15)]
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// `value` as one compact line of JSON, without a newline.
func compactJSON(_ value: PayloadValue) -> [UInt8] {
    var output: [UInt8] = []
    value.write(to: &output)
    return output
}
