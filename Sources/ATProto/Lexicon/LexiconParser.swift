/// Turns the definitions of one lexicon document into schemas.
struct LexiconParser {
    let id: String
    private(set) var definitions: [String: Schema] = [:]
    /// The `key` of the record that `main` defines.
    private(set) var recordKey: String?
    /// References to definitions of this document, with the path of each.
    private var localReferences: [(name: String, path: String)] = []
    /// Types that stand for no value that a record could hold.
    private static let methods: Set<String> = ["query", "procedure", "subscription", "permission-set"]

    init(id: String) { self.id = id }

    mutating func define(_ name: String, _ node: LexiconNode) throws(DecodingFailure) {
        guard !name.isEmpty, name.utf8.allSatisfy({ $0.isAlphanumeric }) else {
            throw node.failure("a definition's name must be letters and digits")
        }
        let map = try node.map()
        let type = try typeName(of: map)
        if type == "record" || Self.methods.contains(type) {
            guard name == "main" else { throw node.failure("a \(type) must be the definition \"main\"") }
        }
        switch type {
        case "record": definitions[name] = try record(map)
        case "token":
            try map.allow("type", "description")
            definitions[name] = .token
        case "ref", "union": throw node.failure("a definition cannot be a \(type)")
        case let type where Self.methods.contains(type): break
        default: definitions[name] = try schema(node)
        }
    }

    /// A reference inside the document must find its definition.
    func checkLocalReferences() throws(DecodingFailure) {
        for reference in localReferences where definitions[reference.name] == nil {
            throw DecodingFailure("\(reference.path): no definition \"\(reference.name)\" in this lexicon")
        }
    }

    private func typeName(of map: LexiconMap) throws(DecodingFailure) -> String {
        guard let type = try map.string("type") else { throw map.failure("type is missing") }
        return type
    }

    private mutating func record(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow("type", "description", "key", "record")
        let key = try map.string("key") ?? "any"
        guard ["tid", "any", "nsid"].contains(key) || key.hasPrefix("literal:") else {
            throw map.failure("key must be tid, nsid, any or literal:…")
        }
        recordKey = key
        guard let node = try map.child("record") else { throw map.failure("record is missing") }
        let object = try node.map()
        guard try typeName(of: object) == "object" else { throw node.failure("type must be object") }
        return try self.object(object)
    }

    /// A property's, an item's or a definition's schema.
    private mutating func schema(_ node: LexiconNode) throws(DecodingFailure) -> Schema {
        let map = try node.map()
        let type = try typeName(of: map)
        switch type {
        case "boolean": return try boolean(map)
        case "integer": return try integer(map)
        case "string": return try string(map)
        case "bytes":
            try map.allow("type", "description", "minLength", "maxLength")
            return .bytes(try map.bounds("minLength", "maxLength"))
        case "cid-link":
            try map.allow("type", "description")
            return .cidLink
        case "blob": return try blob(map)
        case "array": return try array(map)
        case "object": return try object(map)
        case "ref":
            try map.allow("type", "description", "ref")
            guard let ref = try map.child("ref") else { throw map.failure("ref is missing") }
            return .ref(try reference(ref))
        case "union": return try union(map)
        case "unknown":
            try map.allow("type", "description")
            return .unknown
        default: throw map.failure("unknown type \"\(type)\"")
        }
    }

    private func boolean(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow("type", "description", "default", "const")
        _ = try map.bool("default")
        return .boolean(constant: try map.bool("const"))
    }

    private func integer(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow("type", "description", "default", "const", "enum", "minimum", "maximum")
        _ = try map.integer("default")
        let range = try map.bounds("minimum", "maximum", from: .min)
        let constant = try map.integer("const")
        let listed = try map.integers("enum")
        return .integer(IntegerSchema(range: range, allowed: constant.map { [$0] } ?? listed))
    }

    private func string(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow(
            "type", "description", "default", "const", "enum", "knownValues", "format", "minLength", "maxLength",
            "minGraphemes", "maxGraphemes")
        _ = try map.string("default")
        _ = try map.strings("knownValues")
        var format: StringFormat?
        if let name = try map.string("format") {
            format = StringFormat(rawValue: name)
            if format == nil { throw map.failure("unknown format \"\(name)\"") }
        }
        let constant = try map.string("const")
        let listed = try map.strings("enum")
        return .string(
            StringSchema(
                format: format, length: try map.bounds("minLength", "maxLength"),
                graphemes: try map.bounds("minGraphemes", "maxGraphemes"), allowed: constant.map { [$0] } ?? listed))
    }

    private func blob(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow("type", "description", "accept", "maxSize")
        let size = try map.integer("maxSize")
        if let size, size < 0 { throw map.failure("maxSize must not be negative") }
        return .blob(BlobSchema(accept: try map.strings("accept"), maximumSize: size))
    }

    private mutating func array(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow("type", "description", "items", "minLength", "maxLength")
        guard let items = try map.child("items") else { throw map.failure("items is missing") }
        let schema = try schema(items)
        return .array(ArraySchema(items: schema, length: try map.bounds("minLength", "maxLength")))
    }

    private mutating func object(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow("type", "description", "properties", "required", "nullable")
        let required = try map.strings("required") ?? []
        let nullable = try map.strings("nullable") ?? []
        let properties = try map.child("properties")?.map()
        let names = properties?.keys ?? []
        for name in required where !names.contains(name) { throw map.failure("required \"\(name)\" is no property") }
        for name in nullable where !names.contains(name) { throw map.failure("nullable \"\(name)\" is no property") }

        var object = ObjectSchema(properties: [])
        for name in names {
            guard let node = try properties?.child(name) else { continue }
            // An absent property with a default counts as present.
            let hasDefault = node.value["default"] != nil
            object.properties.append(
                ObjectSchema.Property(
                    name: name, schema: try schema(node), isRequired: required.contains(name) && !hasDefault,
                    isNullable: nullable.contains(name)))
        }
        return .object(object)
    }

    private mutating func union(_ map: LexiconMap) throws(DecodingFailure) -> Schema {
        try map.allow("type", "description", "refs", "closed")
        guard let node = try map.child("refs") else { throw map.failure("refs is missing") }
        guard case .array(let items) = node.value else { throw node.failure("must be an array") }
        var refs: [Reference] = []
        for (index, value) in items.enumerated() {
            refs.append(try reference(LexiconNode(value, path: "\(node.path)[\(index)]")))
        }
        let closed = try map.bool("closed") ?? false
        guard !closed || !refs.isEmpty else { throw map.failure("a closed union needs refs") }
        return .union(UnionSchema(refs: refs, closed: closed))
    }

    /// `#name`, an NSID, or `NSID#name`.
    private mutating func reference(_ node: LexiconNode) throws(DecodingFailure) -> Reference {
        let text = try node.string()
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let document = parts[0].isEmpty ? id : parts[0]
        let name = parts.count == 2 ? parts[1] : "main"
        guard NSID.isValid(document), !name.isEmpty, name.utf8.allSatisfy(\.isAlphanumeric) else {
            throw node.failure("\"\(text)\" is no reference to a definition")
        }
        if document == id { localReferences.append((name, node.path)) }
        return Reference(name: name == "main" ? document : "\(document)#\(name)", index: nil)
    }
}
