/// DAG-CBOR, strict: shortest forms, sorted unique keys, tag 42 alone, no floats.
public enum DAGCBOR {
    public static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> Value { fatalError("stub") }
    public static func encode(_ value: Value) -> [UInt8] { fatalError("stub") }
    /// The length in bytes of the one item that starts at `offset`; used to split concatenated items.
    public static func itemLength(in bytes: [UInt8], at offset: Int) throws(DecodingFailure) -> Int {
        fatalError("stub")
    }
}

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

/// One message of `com.atproto.sync.subscribeRepos`: header and body, with a CAR inside a commit.
public enum RelayFrame {
    public static let maximumSize = 5_000_000
    /// Decodes records only of collections that `keep` contains.
    public static func decode(_ bytes: [UInt8], keep: CollectionFilter) throws(DecodingFailure) -> Event {
        fatalError("stub")
    }
}
