import Crypto

/// Building values out of JSON.
extension JSONReader {
    /// The value that comes next, with at most `depth` containers inside one another.
    mutating func value(depth: Int) throws(Fault) -> Value {
        skipWhitespace()
        remainingValues -= 1
        guard remainingValues >= 0 else { throw fault(.size, "more than \(JSON.maximumCount) values") }
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .integer(try integer())
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        default:
            try literal("null")
            return .null
        }
    }

    private mutating func array(depth: Int) throws(Fault) -> [Value] {
        guard depth > 0 else { throw tooDeep }
        position += 1
        var items: [Value] = []
        if take(UInt8(ascii: "]")) { return items }
        repeat { items.append(try value(depth: depth - 1)) } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"), "a comma or the array's end is missing")
        return items
    }

    private mutating func object(depth: Int) throws(Fault) -> Value {
        let start = position
        position += 1
        var members = Members()
        if !take(UInt8(ascii: "}")) {
            repeat {
                let key = try key()
                if dialect == .dataModel, let special = Special(key) {
                    guard members.entries.isEmpty else { throw fault(.model, special.notAlone, at: start) }
                    return try leaf(special)
                }
                guard depth > 0 else { throw tooDeep }
                members.add(key, try value(depth: depth - 1))
            } while take(UInt8(ascii: ","))
            try expect(UInt8(ascii: "}"), "a comma or the object's end is missing")
        }
        guard depth > 0 else { throw tooDeep }
        guard let map = members.map() else { throw fault(.model, "an object with a duplicate key", at: start) }
        if dialect == .dataModel, let message = DataModel.typeFault(of: map) { throw fault(.model, message, at: start) }
        return .map(map)
    }

    private var tooDeep: Fault { fault(.model, "more than \(JSON.maximumDepth) containers inside one another") }

    /// The names that make an object a leaf.
    private enum Special {
        case link, bytes

        init?(_ key: String) {
            switch key {
            case "$link": self = .link
            case "$bytes": self = .bytes
            default: return nil
            }
        }

        var notAlone: String {
            switch self {
            case .link: "$link beside other keys"
            case .bytes: "$bytes beside other keys"
            }
        }
    }

    /// The rest of a `{"$link": …}` or `{"$bytes": …}` behind its key.
    private mutating func leaf(_ special: Special) throws(Fault) -> Value {
        skipWhitespace()
        let start = position
        guard next == UInt8(ascii: "\"") else { throw fault(.model, "$link and $bytes need a string") }
        let text = try string()
        let result: Value
        switch special {
        case .link:
            guard let cid = try? CID(text), cid.isLinkable else {
                throw fault(.model, "$link is no CID that a record may link to", at: start)
            }
            result = .link(cid)
        case .bytes:
            guard let bytes = try? Base64.decode(text, padding: .optional) else {
                throw fault(.model, "$bytes is no base64", at: start)
            }
            result = .bytes(bytes)
        }
        guard take(UInt8(ascii: "}")) else {
            let message = next == UInt8(ascii: ",") ? special.notAlone : "a comma or the object's end is missing"
            throw fault(next == UInt8(ascii: ",") ? .model : .grammar, message, at: start)
        }
        return result
    }
}

/// Gathers an object's members into canonical order.
///
/// Few members are put in their place one by one; many are sorted at the end, so that no order of keys is slow.
private struct Members {
    private(set) var entries: [ValueMap.Entry] = []
    private var isCanonical = true
    private static let few = 24

    mutating func add(_ key: String, _ value: Value) {
        let entry = ValueMap.Entry(key: key, value: value)
        guard isCanonical, let last = entries.last, !ValueMap.precedes(last.key, key) else {
            return entries.append(entry)
        }
        guard entries.count <= Self.few else {
            isCanonical = false
            return entries.append(entry)
        }
        var index = entries.count - 1
        while index > 0, ValueMap.precedes(key, entries[index - 1].key) { index -= 1 }
        // A duplicate ends beside its twin.
        if !ValueMap.precedes(key, entries[index].key) { isCanonical = false }
        if index > 0, !ValueMap.precedes(entries[index - 1].key, key) { isCanonical = false }
        entries.insert(entry, at: index)
    }

    /// nil when a key stands twice.
    func map() -> ValueMap? { isCanonical ? ValueMap(canonical: entries) : ValueMap(entries) }
}
