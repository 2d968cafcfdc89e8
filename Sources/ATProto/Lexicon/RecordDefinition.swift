/// What a lexicon says of the records of its collection.
public struct RecordDefinition: Sendable {
    /// `tid`, `any`, `nsid` or `literal:self`.
    public let key: String
    /// In the order of the lexicon's document.
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

        init(_ schema: Schema) {
            self =
                switch schema {
                case .boolean: .boolean
                case .integer: .integer
                case .string(let string): .string(indexed: string.format == .atURI || string.format == .did)
                case .bytes: .bytes
                case .cidLink: .cidLink
                case .ref(let ref) where ref.name == Lexicons.strongRef: .strongRef
                default: .json
                }
        }
    }
}
