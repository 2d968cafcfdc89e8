/// The fields of a frame's header or body: found and checked in one pass, and decoded as they are asked for.
///
/// Confined to the bytes that its reader borrows.
struct FrameFields {
    /// No message has a fifth as many; a bound on what unknown fields may cost.
    private static let maximumCount = 64

    private struct Field {
        var key: Range<Int>
        var value: Int
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let name: String
    private let start: Int
    private var fields: [Field] = []

    /// Reads the map that comes next.
    /// - Parameters:
    ///   - name: what holds the fields, for errors.
    ///   - lenient: a field in which lengths alone are checked, because the caller will decode its items one by one.
    init(_ reader: inout CBORReader, _ name: String, lenient: StaticString = "") throws(DecodingFailure) {
        bytes = reader.bytes
        self.name = name
        start = reader.offset
        let head = try reader.head()
        guard head.kind == .map else { throw DecodingFailure("\(name) is no map", offset: start) }
        let count = try reader.count(head.argument, width: 2)
        guard count <= Self.maximumCount else { throw DecodingFailure("\(name) has \(count) fields", offset: start) }
        fields.reserveCapacity(count)
        for _ in 0..<count {
            let key = try reader.key(after: fields.last?.key)
            try reader.skipText(key)
            fields.append(Field(key: key, value: reader.offset))
            if holds(key, lenient) {
                try reader.passOver()
            } else {
                try reader.skip(depth: DAGCBOR.maximumDepth - 1)
            }
        }
    }

    private func holds(_ range: Range<Int>, _ key: StaticString) -> Bool {
        range.count == key.utf8CodeUnitCount
            && (0..<range.count).allSatisfy { bytes[range.lowerBound + $0] == key.utf8Start[$0] }
    }

    /// A reader that stands at the field's value; nil when the field is absent.
    func reader(_ key: StaticString) -> CBORReader? {
        fields.first { holds($0.key, key) }.map { CBORReader(bytes, offset: $0.value) }
    }

    func failure(_ key: StaticString, _ reason: String) -> DecodingFailure {
        DecodingFailure("\(name): \(key) \(reason)", offset: reader(key)?.offset ?? start)
    }

    private func required(_ key: StaticString) throws(DecodingFailure) -> CBORReader {
        guard let reader = reader(key) else { throw failure(key, "is missing") }
        return reader
    }

    // MARK: Types

    func text(_ key: StaticString) throws(DecodingFailure) -> String {
        var reader = try required(key)
        let head = try reader.head()
        guard head.kind == .text else { throw failure(key, "is no text") }
        return try reader.text(try reader.range(head.argument))
    }

    /// nil when the field is absent or null.
    func optionalText(_ key: StaticString) throws(DecodingFailure) -> String? {
        guard let reader = reader(key), bytes[reader.offset] != 0xf6 else { return nil }
        return try text(key)
    }

    func integer(_ key: StaticString) throws(DecodingFailure) -> Int64 {
        var reader = try required(key)
        let head = try reader.head()
        switch head.kind {
        case .unsigned: return try reader.integer(head.argument)
        case .negative: return -1 - (try reader.integer(head.argument))
        default: throw failure(key, "is no integer")
        }
    }

    func bool(_ key: StaticString) throws(DecodingFailure) -> Bool {
        switch bytes[try required(key).offset] {
        case 0xf4: return false
        case 0xf5: return true
        default: throw failure(key, "is no boolean")
        }
    }

    /// Where the field's byte string lies.
    func bytes(_ key: StaticString) throws(DecodingFailure) -> Range<Int> {
        var reader = try required(key)
        let head = try reader.head()
        guard head.kind == .bytes else { throw failure(key, "is no byte string") }
        return try reader.range(head.argument)
    }

    // MARK: What every message has

    func did(_ key: StaticString) throws(DecodingFailure) -> DID {
        let text = try text(key)
        do { return try DID(text) } catch { throw failure(key, "is \(error)") }
    }

    func tid(_ key: StaticString) throws(DecodingFailure) -> TID {
        let text = try text(key)
        do { return try TID(text) } catch { throw failure(key, "is \(error)") }
    }

    func seq() throws(DecodingFailure) -> Int64 {
        let seq = try integer("seq")
        guard seq >= 0 else { throw failure("seq", "is negative") }
        return seq
    }

    /// `time` in microseconds since 1970.
    func time() throws(DecodingFailure) -> Int64 {
        let text = try text("time")
        do { return try Datetime(text).microseconds } catch { throw failure("time", "is \(error)") }
    }
}
