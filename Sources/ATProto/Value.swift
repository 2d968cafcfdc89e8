/// A value of the AT Protocol data model: what DAG-CBOR and the protocol's JSON both express.
///
/// No floats (the protocol forbids them); integers are signed 64-bit. Source: atproto.com/specs/data-model.
public enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case bytes([UInt8])
    case link(CID)
    case array([Value])
    case map(ValueMap)
}

extension Value {
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
    public var link: CID? { if case .link(let value) = self { value } else { nil } }
    public var array: [Value]? { if case .array(let value) = self { value } else { nil } }
    public var map: ValueMap? { if case .map(let value) = self { value } else { nil } }
    public var isNull: Bool { self == .null }

    /// The value under `key` when this is a map that has it. A present `null` is `.null`, not nil.
    public subscript(key: String) -> Value? {
        if case .map(let map) = self { map[key] } else { nil }
    }
}

extension Value {
    /// Texts are equal when their bytes are: Swift's own comparison takes differently composed characters for the same.
    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.link(let a), .link(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.map(let a), .map(let b)): a == b
        default: false
        }
    }
}

extension String {
    @inline(__always)
    func hasSameBytes(as other: String) -> Bool {
        // Equal bytes are equal texts, and for ASCII that comparison is a memcmp; only texts beyond it have forms
        // that are equal and differ in bytes.
        utf8.count == other.utf8.count && self == other
            && (utf8Span.isKnownASCII || utf8.elementsEqual(other.utf8))
    }
}

/// A map with unique keys, kept in DAG-CBOR's canonical order: shorter keys first, then bytewise.
public struct ValueMap: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public var key: String
        public var value: Value

        public init(key: String, value: Value) {
            self.key = key
            self.value = value
        }

        public static func == (a: Entry, b: Entry) -> Bool { a.key.hasSameBytes(as: b.key) && a.value == b.value }
    }

    /// In canonical order.
    public let entries: [Entry]

    public init() { entries = [] }

    /// Sorts the entries; nil when a key stands twice.
    public init?(_ entries: [Entry]) {
        var sorted = entries
        if !Self.isCanonical(sorted) {
            sorted.sort { Self.precedes($0.key, $1.key) }
            guard Self.isCanonical(sorted) else { return nil }
        }
        self.entries = sorted
    }

    /// Takes entries that a decoder has found to be in canonical order and unique.
    init(canonical entries: [Entry]) { self.entries = entries }

    public subscript(key: String) -> Value? { entries.first { $0.key.hasSameBytes(as: key) }?.value }

    static func precedes(_ a: String, _ b: String) -> Bool {
        let (x, y) = (a.utf8, b.utf8)
        return x.count == y.count ? x.lexicographicallyPrecedes(y) : x.count < y.count
    }

    private static func isCanonical(_ entries: [Entry]) -> Bool {
        zip(entries, entries.dropFirst()).allSatisfy { precedes($0.key, $1.key) }
    }
}
