/// One lexicon document: its NSID and its definitions. Source: atproto.com/specs/lexicon.
public struct Lexicon: Sendable {
    public let id: NSID
    /// The record definition `main`, when this lexicon names a collection.
    public let record: RecordDefinition?
    /// What can be checked against, by name: `main`, …; a record stands as its object.
    let definitions: [String: Schema]

    /// From a lexicon's JSON file. The failure's message begins with the path of what is wrong.
    public init(json: [UInt8]) throws(DecodingFailure) {
        let document = LexiconNode(try JSON.decode(json, as: .plain), path: "")
        let map = try document.map()
        try map.allow("lexicon", "id", "revision", "description", "defs")
        guard try map.integer("lexicon") == 1 else { throw document.failure("lexicon must be 1") }
        guard let text = try map.string("id"), let id = try? NSID(text) else { throw map.failure("id must be an NSID") }
        guard let defs = try map.child("defs")?.map(), !defs.keys.isEmpty else {
            throw map.failure("defs must be an object with at least one definition")
        }

        var parser = LexiconParser(id: text)
        for name in defs.keys {
            guard let definition = try defs.child(name) else { continue }
            try parser.define(name, definition)
        }
        try parser.checkLocalReferences()

        self.id = id
        definitions = parser.definitions
        record = try parser.recordKey.map { (key) throws(DecodingFailure) in
            let order = try JSONReader.memberNames(of: json, at: ["defs", "main", "record", "properties"])
            return RecordDefinition(key: key, properties: Self.columns(of: parser.definitions["main"], in: order))
        }
    }

    private static func columns(of schema: Schema?, in order: [String]) -> [RecordDefinition.Property] {
        guard case .object(let object) = schema else { return [] }
        let kinds = Dictionary(uniqueKeysWithValues: object.properties.map { ($0.name, $0.schema) })
        return order.compactMap { name in
            kinds[name].map { RecordDefinition.Property(name: name, kind: RecordDefinition.Kind($0)) }
        }
    }
}

extension JSONReader {
    /// The member names, in the text's order, of the object at `path` inside `json`; none when there is no such object.
    static func memberNames(of json: [UInt8], at path: [String]) throws(DecodingFailure) -> [String] {
        try json.withUnsafeBufferPointer { (buffer) throws(DecodingFailure) in
            var reader = JSONReader(buffer, dialect: .plain)
            do throws(Fault) { return try reader.memberNames(at: path[...]) } catch { throw DecodingFailure(error) }
        }
    }

    private mutating func memberNames(at path: ArraySlice<String>) throws(Fault) -> [String] {
        var names: [String] = []
        try members(of: path.first ?? "the object") { (reader, key) throws(Fault) in
            if path.isEmpty {
                names.append(key)
                try reader.skipValue()
            } else if key == path.first {
                names = try reader.memberNames(at: path.dropFirst())
            } else {
                try reader.skipValue()
            }
        }
        return names
    }
}
