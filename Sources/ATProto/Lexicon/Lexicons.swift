/// The set of lexicons that a server knows, by NSID.
public struct Lexicons: Sendable {
    public private(set) var documents: [String: Lexicon] = [:]
    /// All definitions of all documents; references are indexes into it.
    let definitions: [Schema]
    /// The record definitions' indexes, by collection.
    let records: [String: Int]
    /// Names that some lexicon refers to and none defines, sorted. What they describe is not checked.
    public let missing: [String]

    /// A record's address and version; known even when its lexicon is not in the set.
    static let strongRef = "com.atproto.repo.strongRef"

    /// Of two documents with one NSID the later stands.
    public init(_ documents: some Sequence<Lexicon>) {
        for document in documents { self.documents[document.id.description] = document }

        var named: [(name: String, schema: Schema)] = [(Self.strongRef, Self.strongRefSchema)]
        var records: [String: Int] = [:]
        for (id, document) in self.documents {
            for (name, schema) in document.definitions {
                if name == "main", document.record != nil { records[id] = named.count }
                named.append((name == "main" ? id : "\(id)#\(name)", schema))
            }
        }
        let indexes = Dictionary(
            named.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { _, later in later })
        self.records = records
        definitions = named.map { $0.schema.resolved { indexes[$0] } }
        missing = Set(definitions.flatMap(\.references).filter { $0.index == nil }.map(\.name)).sorted()
    }

    /// Checks `record` against `collection`'s lexicon; nil when it is valid or when there is no such lexicon.
    public func validate(_ record: Value, as collection: NSID) -> Violation? {
        guard let index = records[collection.description] else { return nil }
        let violation = Validator(definitions: definitions).check(
            record, definitions[index], collection: collection.description)
        return violation?.inside("$")
    }

    private static let strongRefSchema: Schema = {
        func string(_ name: String, _ format: StringFormat) -> ObjectSchema.Property {
            let schema = StringSchema(format: format, length: Bounds(), graphemes: Bounds(), allowed: nil)
            return ObjectSchema.Property(name: name, schema: .string(schema), isRequired: true, isNullable: false)
        }
        return .object(ObjectSchema(properties: [string("cid", .cid), string("uri", .atURI)]))
    }()
}
