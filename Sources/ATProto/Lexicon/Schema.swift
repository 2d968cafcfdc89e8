/// What a lexicon says of one value, ready to be checked against.
indirect enum Schema: Sendable {
    case unknown
    case boolean(constant: Bool?)
    case integer(IntegerSchema)
    case string(StringSchema)
    case bytes(Bounds)
    case cidLink
    case blob(BlobSchema)
    case array(ArraySchema)
    case object(ObjectSchema)
    case ref(Reference)
    case union(UnionSchema)
    case token

    /// The same with every reference looked up.
    func resolved(_ index: (String) -> Int?) -> Schema {
        switch self {
        case .array(let array): .array(ArraySchema(items: array.items.resolved(index), length: array.length))
        case .object(let object):
            .object(
                ObjectSchema(
                    properties: object.properties.map { property in
                        var property = property
                        property.schema = property.schema.resolved(index)
                        return property
                    }))
        case .ref(let ref): .ref(ref.resolved(index))
        case .union(let union): .union(UnionSchema(refs: union.refs.map { $0.resolved(index) }, closed: union.closed))
        default: self
        }
    }

    /// The names of all definitions that this one mentions.
    var references: [Reference] {
        switch self {
        case .array(let array): array.items.references
        case .object(let object): object.properties.flatMap(\.schema.references)
        case .ref(let ref): [ref]
        case .union(let union): union.refs
        default: []
        }
    }
}

/// Inclusive limits; an absent one is no limit.
struct Bounds: Sendable {
    var minimum: Int64?
    var maximum: Int64?

    @inline(__always) func contains(_ number: Int64) -> Bool {
        if let minimum, number < minimum { return false }
        if let maximum, number > maximum { return false }
        return true
    }

    func contains(_ number: Int) -> Bool { contains(Int64(number)) }

    var isFree: Bool { minimum == nil && maximum == nil }
}

struct IntegerSchema: Sendable {
    var range: Bounds
    /// The only values allowed; a constant is a set of one.
    var allowed: [Int64]?
}

struct StringSchema: Sendable {
    var format: StringFormat?
    /// In bytes of UTF-8.
    var length: Bounds
    var graphemes: Bounds
    /// The only values allowed; a constant is a set of one.
    var allowed: [String]?
}

struct BlobSchema: Sendable {
    /// MIME types, or families of them: `image/*`.
    var accept: [String]?
    /// In bytes.
    var maximumSize: Int64?

    func accepts(_ mimeType: String) -> Bool {
        guard let accept else { return true }
        return accept.contains { pattern in
            pattern == "*/*" || pattern == mimeType
                || pattern.utf8.last == UInt8(ascii: "*") && mimeType.utf8.starts(with: pattern.utf8.dropLast())
        }
    }
}

struct ArraySchema: Sendable {
    var items: Schema
    var length: Bounds
}

struct ObjectSchema: Sendable {
    struct Property: Sendable {
        var name: String
        var schema: Schema
        var isRequired: Bool
        var isNullable: Bool
    }
    /// In canonical order, as a map's entries are, so that both are walked together.
    var properties: [Property]
}

struct UnionSchema: Sendable {
    var refs: [Reference]
    var closed: Bool
}

/// A definition's name, and where it is found in the set of lexicons.
struct Reference: Sendable {
    /// `NSID#definition`, or the NSID alone for `main`.
    var name: String
    /// nil when no lexicon of the set defines it.
    var index: Int?

    func resolved(_ index: (String) -> Int?) -> Reference { Reference(name: name, index: index(name)) }

    /// Leaves the `#main` out, which a name need not have.
    static func normalized(_ name: String) -> String {
        name.utf8.count > 5 && name.hasSuffix("#main") ? String(name.dropLast(5)) : name
    }
}
