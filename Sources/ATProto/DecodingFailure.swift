/// What a decoder found wrong, and where.
public struct DecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public var message: String
    /// The byte at which it was found, when known.
    public var offset: Int?

    public init(_ message: String, offset: Int? = nil) {
        self.message = message
        self.offset = offset
    }

    public var description: String { offset.map { "\(message) (at byte \($0))" } ?? message }
}
