/// One lexicon document: its NSID and its definitions. Source: atproto.com/specs/lexicon.
public struct Lexicon: Sendable {
    public let id: NSID
    /// The record definition `main`, when this lexicon names a collection.
    public let record: RecordDefinition?

    /// From a lexicon's JSON file.
    public init(json: [UInt8]) throws(DecodingFailure) { fatalError("stub") }
}

public struct RecordDefinition: Sendable {
    /// `tid`, `any`, `nsid` or `literal:self`.
    public let key: String
    public let properties: [Property]

    /// One top-level property, for table columns.
    public struct Property: Sendable, Hashable {
        public let name: String
        public let kind: Kind
    }

    public enum Kind: Sendable, Hashable {
        case boolean, integer
        /// `indexed` for formats at-uri and did.
        case string(indexed: Bool)
        case bytes, cidLink
        /// A ref to `com.atproto.repo.strongRef`: two columns, uri and cid.
        case strongRef
        /// Blob, object, array, union, unknown or another ref: a JSON text.
        case json
    }
}
