/// The protocol's JSON, read strictly and written compactly.
///
/// RFC 8259 narrowed to what the data model can hold: valid UTF-8, no duplicate keys, no lone surrogates, integers
/// of signed 64 bits (`1.0` is the integer 1; any other fraction and every exponent is refused), nothing after the
/// value, bounded depth, size and count. Source: atproto.com/specs/data-model.
public enum JSON {
    /// Containers inside one another, the outermost included. `$link` and `$bytes` objects are leaves.
    public static let maximumDepth = 32
    /// Bytes of one text.
    public static let maximumSize = 8 << 20
    /// Values in one text, containers included.
    public static let maximumCount = 1 << 20

    /// How objects are read.
    public enum Dialect: Sendable {
        /// `$link` and `$bytes` objects become links and bytes; malformed ones, blobs and `$type`s are refused.
        case dataModel
        /// Every object is a map.
        case plain
    }

    /// Decodes one value, which must fill `bytes` but for white space.
    public static func decode(_ bytes: [UInt8], as dialect: Dialect = .dataModel) throws(DecodingFailure) -> Value {
        try bytes.withUnsafeBufferPointer { (buffer) throws(DecodingFailure) in try decode(buffer, as: dialect) }
    }

    /// Decodes one value from memory that the caller keeps alive: a line inside a larger buffer needs no copy.
    public static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, as dialect: Dialect = .dataModel
    ) throws(DecodingFailure) -> Value {
        guard bytes.count <= maximumSize else { throw DecodingFailure("JSON of more than \(maximumSize) bytes") }
        do {
            var reader = JSONReader(bytes, dialect: dialect)
            let value = try reader.value(depth: maximumDepth)
            try reader.finish()
            return value
        } catch { throw DecodingFailure(error) }
    }

    /// Compact UTF-8: keys in the map's canonical order, shortest escapes, bytes as unpadded base64.
    public static func encode(_ value: Value) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(512)
        append(value, to: &output)
        return output
    }

    /// Encodes `value` behind what `output` already holds.
    public static func append(_ value: Value, to output: inout [UInt8]) { JSONWriter.append(value, to: &output) }

    /// Encodes `text` as a JSON string, quotes included, behind what `output` already holds.
    public static func append(string text: String, to output: inout [UInt8]) {
        JSONWriter.append(string: text, to: &output)
    }
}

extension DecodingFailure {
    init(_ fault: JSONReader.Fault) { self.init(fault.message, offset: fault.offset) }
}
