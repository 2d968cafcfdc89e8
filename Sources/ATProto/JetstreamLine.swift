/// One line of Jetstream v1. Source: github.com/bluesky-social/jetstream, README.
///
/// What is used must be of its type; unknown fields are passed over, and an unknown kind is an `.info`.
public enum JetstreamLine {
    /// Bytes of one line: a record of 1 MiB may need several times that in JSON.
    public static let maximumSize = JSON.maximumSize

    /// Decodes records only of collections that `keep` contains.
    public static func decode(_ bytes: [UInt8], keep: CollectionFilter) throws(DecodingFailure) -> Event {
        try bytes.withUnsafeBufferPointer { (buffer) throws(DecodingFailure) in try decode(buffer, keep: keep) }
    }

    /// The same from memory that the caller keeps alive: a line inside a larger buffer needs no copy.
    public static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, keep: CollectionFilter
    ) throws(DecodingFailure) -> Event {
        guard bytes.count <= maximumSize else { throw DecodingFailure("a line of more than \(maximumSize) bytes") }
        do {
            var line = JetstreamReader(bytes, keep: keep)
            return try line.event()
        } catch { throw DecodingFailure(error) }
    }
}
