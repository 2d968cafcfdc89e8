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

    /// Empties it, and keeps its memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        pathEnd = 0
    }

    /// Begins anew with `:path`, which is `prefix` and `suffix`. `capacity`: bytes that all fields will have.
    public mutating func begin(path prefix: String, _ suffix: String = "", capacity: Int = 256) {
        removeAll()
        bytes.reserveCapacity(capacity)
        bytes.append(Self.neverIndexed | Self.path)
        HPACK.append(prefix.utf8.count + suffix.utf8.count, prefix: 7, to: &bytes)
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
        HPACK.append(field.name, to: &bytes)
        HPACK.append(field.value, to: &bytes)
    }

    /// Adds a field whose value of `count` bytes `write` appends.
    public mutating func append(_ name: StaticString, count: Int, write: (inout [UInt8]) -> Void) {
        bytes.append(Self.neverIndexed)
        HPACK.append(name.utf8CodeUnitCount, prefix: 7, to: &bytes)
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        HPACK.append(count, prefix: 7, to: &bytes)
        let start = bytes.count
        write(&bytes)
        precondition(bytes.count == start + count, "a field's value has another length than was said")
    }
}
