/// Header fields of one request alone, encoded at once: what is another each time has no place in HPACK's table, so that
/// no state of the connection is needed to write it.
///
/// Each is a literal that is never indexed, without Huffman coding. Source: RFC 7541 §6.2.3, §5.2, Appendix A.
public struct FieldLiterals: Sendable {
    private static let neverIndexed: UInt8 = 0x10
    /// `:path` in the static table.
    private static let path: UInt8 = 4

    private(set) var bytes: [UInt8] = []
    /// Where `:path` ends, which comes before all fields that are no pseudo-fields.
    private(set) var pathEnd = 0

    /// Without `:path`, which is to come first.
    public init() {}

    /// `:path` is `prefix` and `suffix`. `capacity`: bytes that all fields will have.
    public init(path prefix: String, _ suffix: String = "", capacity: Int = 256) {
        begin(path: prefix, suffix, capacity: capacity)
    }

    /// Empties it, and keeps its memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        pathEnd = 0
    }

    /// Begins anew, as `init` does.
    public mutating func begin(path prefix: String, _ suffix: String = "", capacity: Int = 256) {
        removeAll()
        bytes.reserveCapacity(capacity)
        bytes.append(Self.neverIndexed | Self.path)
        appendLength(prefix.utf8.count + suffix.utf8.count)
        bytes.append(contentsOf: prefix.utf8)
        bytes.append(contentsOf: suffix.utf8)
        pathEnd = bytes.count
    }

    /// Adds a field whose name is in lower case.
    public mutating func append(_ name: StaticString, _ value: String) {
        append(name, count: value.utf8.count) { $0.append(contentsOf: value.utf8) }
    }

    /// The same with a value that is bytes already.
    public mutating func append(_ name: StaticString, _ value: [UInt8]) {
        append(name, count: value.count) { $0.append(contentsOf: value) }
    }

    mutating func append(_ field: HeaderField) {
        bytes.append(Self.neverIndexed)
        for text in [field.name, field.value] {
            appendLength(text.count)
            bytes.append(contentsOf: text)
        }
    }

    /// Adds a field whose value of `count` bytes `write` appends.
    public mutating func append(_ name: StaticString, count: Int, write: (inout [UInt8]) -> Void) {
        bytes.append(Self.neverIndexed)
        appendLength(name.utf8CodeUnitCount)
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        appendLength(count)
        let start = bytes.count
        write(&bytes)
        precondition(bytes.count == start + count, "a field's value has another length than was said")
    }

    /// An integer with a prefix of 7 bits (RFC 7541 §5.1); the bit in front says that no Huffman code follows.
    private mutating func appendLength(_ length: Int) {
        guard length >= 0x7f else { return bytes.append(UInt8(length)) }
        bytes.append(0x7f)
        var rest = length - 0x7f
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f | 0x80))
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
