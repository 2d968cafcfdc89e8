/// DAG-CBOR, strict: shortest forms, sorted unique keys, tag 42 alone, no floats.
///
/// Each value has exactly one encoding, so what is accepted encodes to the same bytes again. Narrower than DAG-CBOR
/// where the protocol is: no floats, integers of 64 bits with a sign, and links as `CID.isLinkable` has them.
/// Source: ipld.io/specs/codecs/dag-cbor, atproto.com/specs/data-model.
public enum DAGCBOR {
    /// How many arrays and maps may lie inside one another.
    public static let maximumDepth = 32
    /// How many values one decoding may give. Each takes some 90 bytes of memory at worst, and 2 bytes of input.
    public static let maximumCount = 1 << 17

    /// The one value that `bytes` hold, with nothing behind it.
    public static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> Value {
        try bytes.withUnsafeBufferPointer { buffer throws(DecodingFailure) in try decode(buffer) }
    }

    /// As above, without copying the bytes first; offsets in errors count from the buffer's start.
    public static func decode(_ bytes: UnsafeBufferPointer<UInt8>) throws(DecodingFailure) -> Value {
        var reader = CBORReader(bytes)
        let value = try reader.value(depth: maximumDepth)
        try reader.end()
        return value
    }

    /// The value's one encoding.
    public static func encode(_ value: Value) -> [UInt8] {
        let size = CBORWriter.size(of: value)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            var writer = CBORWriter(buffer)
            writer.write(value)
            count = writer.offset
        }
    }

    /// The length in bytes of the one item that starts at `offset`; used to split concatenated items.
    ///
    /// Looks at lengths alone: an item that `decode` refuses may have one, so that a reader can pass over it.
    public static func itemLength(in bytes: [UInt8], at offset: Int) throws(DecodingFailure) -> Int {
        try bytes.withUnsafeBufferPointer { buffer throws(DecodingFailure) in try itemLength(in: buffer, at: offset) }
    }

    /// As above, without copying the bytes first.
    public static func itemLength(
        in bytes: UnsafeBufferPointer<UInt8>, at offset: Int
    ) throws(DecodingFailure) -> Int {
        guard bytes.indices.contains(offset) else { throw DecodingFailure("no item starts here", offset: offset) }
        var reader = CBORReader(bytes, offset: offset)
        try reader.passOver()
        return reader.offset - offset
    }
}
