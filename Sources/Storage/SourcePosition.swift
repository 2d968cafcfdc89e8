/// How far a source has been read, as `_cursor` keeps it.
public struct SourcePosition: Sendable, Hashable {
    /// A recording's or a live source's name.
    public var source: String
    /// In the source's own measure: a sequence number, a time, or bytes of a file.
    public var position: Int64
    /// ISO 8601, UTC.
    public var updatedAt: String
}

extension Connection {
    /// Of all sources the one that was read last; nil when none ever was.
    public func latestPosition() throws -> SourcePosition? {
        let statement = try statement(
            "SELECT source, position, updated_at FROM _cursor ORDER BY updated_at DESC, rowid DESC LIMIT 1")
        return try statement.first {
            SourcePosition(source: $0.text(0), position: $0.integer(1), updatedAt: $0.text(2))
        }
    }
}
