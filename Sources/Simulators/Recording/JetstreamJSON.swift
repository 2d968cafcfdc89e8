import ATProto

/// Records as a Jetstream writes them: keys in the order of their bytes, unlike DAG-CBOR, where length comes first.
struct JetstreamJSON {
    /// Writes `\uXXXX`, in surrogate pairs where needed, for every character beyond ASCII.
    var escapesBeyondASCII: Bool

    func append(_ value: Value, to output: inout [UInt8]) {
        switch value {
        case .map(let map):
            let entries = map.entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            append(entries, "{", "}", to: &output) { entry, output in
                append(entry.key, to: &output)
                output.append(UInt8(ascii: ":"))
                append(entry.value, to: &output)
            }
        case .array(let items):
            append(items, "[", "]", to: &output) { item, output in append(item, to: &output) }
        case .string(let text): append(text, to: &output)
        case .null, .bool, .integer, .bytes, .link: JSON.append(value, to: &output)
        }
    }

    private func append<Item>(
        _ items: [Item], _ open: Unicode.Scalar, _ close: Unicode.Scalar, to output: inout [UInt8],
        item append: (Item, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        for (index, item) in items.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            append(item, &output)
        }
        output.append(UInt8(ascii: close))
    }

    private func append(_ text: String, to output: inout [UInt8]) {
        guard escapesBeyondASCII else { return JSON.append(string: text, to: &output) }
        var escaped: [UInt8] = []
        JSON.append(string: text, to: &escaped)
        for unit in String(decoding: escaped, as: UTF8.self).utf16 {
            if unit < 0x80 {
                output.append(UInt8(unit))
            } else {
                let digits = String(unit, radix: 16)
                output += "\\u".utf8
                output += String(repeating: "0", count: 4 - digits.utf8.count).utf8
                output += digits.utf8
            }
        }
    }
}
