import Crypto

/// Writes values as the protocol's JSON.
enum JSONWriter {
    static func append(_ value: Value, to output: inout [UInt8]) {
        switch value {
        case .null: append(raw: "null", to: &output)
        case .bool(let flag): append(raw: flag ? "true" : "false", to: &output)
        case .integer(let number): append(number, to: &output)
        case .string(let text): append(string: text, to: &output)
        case .bytes(let bytes):
            append(raw: #"{"$bytes":""#, to: &output)
            output.append(contentsOf: Base64.encode(bytes).utf8)
            append(raw: #""}"#, to: &output)
        case .link(let cid):
            append(raw: #"{"$link":""#, to: &output)
            output.append(contentsOf: cid.description.utf8)
            append(raw: #""}"#, to: &output)
        case .array(let items):
            output.append(UInt8(ascii: "["))
            for index in items.indices {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                append(items[index], to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .map(let map):
            output.append(UInt8(ascii: "{"))
            for index in map.entries.indices {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                append(string: map.entries[index].key, to: &output)
                output.append(UInt8(ascii: ":"))
                append(map.entries[index].value, to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// A JSON string, quotes included.
    static func append(string text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { append(escaping: $0, to: &output) }
        if done == nil { Array(text.utf8).withUnsafeBufferPointer { append(escaping: $0, to: &output) } }
        output.append(UInt8(ascii: "\""))
    }

    private static func append(escaping bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        var start = 0
        for index in bytes.indices {
            let byte = bytes[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
            append(escapeOf: byte, to: &output)
            start = index + 1
        }
        output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
    }

    private static func append(escapeOf byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        default:
            append(raw: byte < 0x10 ? "u000" : "u001", to: &output)
            let digit = byte & 0x0F
            output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    private static func append(_ number: Int64, to output: inout [UInt8]) {
        if number < 0 { output.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = output.count
        repeat {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        output[start...].reverse()
    }

    private static func append(raw text: StaticString, to output: inout [UInt8]) {
        output.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
