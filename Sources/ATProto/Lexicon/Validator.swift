/// Checks values against schemas. Violations' paths are relative to the value checked.
struct Validator {
    let definitions: [Schema]
    /// Schemas inside one another; records that came through a decoder are never this deep.
    static let maximumDepth = 64

    /// A whole record: its `$type` names the collection.
    func check(_ record: Value, _ schema: Schema, collection: String) -> Violation? {
        guard case .map(let map) = record else { return wrongType("an object") }
        guard let type = map.type else {
            return Violation(.typeMismatch, path: ".$type", message: "is missing")
        }
        guard case .string(let name) = type, name.hasSameBytes(as: collection) else {
            return Violation(.typeMismatch, path: ".$type", message: "must be the collection, \(collection)")
        }
        return check(record, schema, depth: Self.maximumDepth)
    }

    func check(_ value: Value, _ schema: Schema, depth: Int) -> Violation? {
        guard depth > 0 else { return Violation(.depth, path: "", message: "is nested too deep") }
        switch schema {
        case .unknown:
            guard case .map = value else { return wrongType("an object") }
        case .boolean(let constant):
            guard case .bool(let flag) = value else { return wrongType("true or false") }
            if let constant, flag != constant { return Violation(.closed, path: "", message: "must be \(constant)") }
        case .integer(let integer):
            guard case .integer(let number) = value else { return wrongType("an integer") }
            return check(number, integer)
        case .string(let string):
            guard case .string(let text) = value else { return wrongType("a string") }
            return check(text, string)
        case .bytes(let bounds):
            guard case .bytes(let bytes) = value else { return wrongType("bytes") }
            if !bounds.contains(bytes.count) { return length("\(bytes.count) bytes") }
        case .cidLink:
            guard case .link = value else { return wrongType("a link") }
        case .blob(let blob): return check(value, blob)
        case .array(let array):
            guard case .array(let items) = value else { return wrongType("an array") }
            return check(items, array, depth: depth)
        case .object(let object):
            guard case .map(let map) = value else { return wrongType("an object") }
            return check(map, object, depth: depth)
        case .ref(let ref):
            if let index = ref.index { return check(value, definitions[index], depth: depth - 1) }
        case .union(let union): return check(value, union, depth: depth)
        case .token:
            guard case .string = value else { return wrongType("a token's name") }
        }
        return nil
    }

    // MARK: Containers

    private func check(_ map: ValueMap, _ object: ObjectSchema, depth: Int) -> Violation? {
        var index = 0
        let entries = map.entries
        for property in object.properties {
            // Both are in canonical order.
            while index < entries.count, !entries[index].key.hasSameBytes(as: property.name),
                ValueMap.precedes(entries[index].key, property.name)
            { index += 1 }
            guard index < entries.count, entries[index].key.hasSameBytes(as: property.name) else {
                guard !property.isRequired else {
                    return Violation(.required, path: ".\(property.name)", message: "is missing")
                }
                continue
            }
            let value = entries[index].value
            if case .null = value {
                if property.isNullable { continue }
                return Violation(.null, path: ".\(property.name)", message: "must not be null")
            }
            if let violation = check(value, property.schema, depth: depth - 1) {
                return violation.inside(".\(property.name)")
            }
        }
        return nil
    }

    private func check(_ items: [Value], _ array: ArraySchema, depth: Int) -> Violation? {
        if !array.length.contains(items.count) { return length("\(items.count) items") }
        for (index, item) in items.enumerated() {
            if case .null = item { return Violation(.null, path: "[\(index)]", message: "must not be null") }
            if let violation = check(item, array.items, depth: depth - 1) { return violation.inside("[\(index)]") }
        }
        return nil
    }

    private func check(_ value: Value, _ union: UnionSchema, depth: Int) -> Violation? {
        guard case .map(let map) = value else { return wrongType("an object") }
        guard case .string(let type) = map.type, !type.isEmpty else {
            return Violation(.required, path: ".$type", message: "is missing in a union")
        }
        let name = Reference.normalized(type)
        for ref in union.refs where ref.name.hasSameBytes(as: name) {
            return ref.index.flatMap { check(value, definitions[$0], depth: depth - 1) }
        }
        return union.closed ? Violation(.closed, path: ".$type", message: "is none of a closed union") : nil
    }

    // MARK: Leaves

    private func check(_ number: Int64, _ schema: IntegerSchema) -> Violation? {
        if let allowed = schema.allowed, !allowed.contains(number) {
            return Violation(.closed, path: "", message: "is none of the values allowed")
        }
        return schema.range.contains(number) ? nil : Violation(.range, path: "", message: "\(number) is out of range")
    }

    private func check(_ text: String, _ schema: StringSchema) -> Violation? {
        if let allowed = schema.allowed, !allowed.contains(where: { $0.hasSameBytes(as: text) }) {
            return Violation(.closed, path: "", message: "is none of the values allowed")
        }
        if !schema.length.contains(text.utf8.count) { return length("\(text.utf8.count) bytes") }
        if !schema.graphemes.isFree, !graphemesFit(text, schema.graphemes) { return length("graphemes") }
        if let format = schema.format, !format.accepts(text) {
            return Violation(.format, path: "", message: "is no valid \(format.rawValue)")
        }
        return nil
    }

    /// A grapheme has at least one byte, so the bytes often decide without counting.
    private func graphemesFit(_ text: String, _ bounds: Bounds) -> Bool {
        let bytes = Int64(text.utf8.count)
        if let minimum = bounds.minimum, bytes < minimum { return false }
        let enough = bounds.minimum.map { $0 == 0 || $0 == 1 && bytes > 0 } ?? true
        if enough, bounds.maximum.map({ bytes <= $0 }) ?? true { return true }
        return bounds.contains(text.count)
    }

    private func check(_ value: Value, _ schema: BlobSchema) -> Violation? {
        guard case .map(let map) = value else { return wrongType("a blob") }
        var size: Int64?
        if let type = map.type {
            guard type == .string("blob"), case .link = map["ref"], case .integer(let bytes) = map["size"] else {
                return wrongType("a blob")
            }
            size = bytes
        } else {
            // The form of early records: a CID as text and a MIME type, and nothing else.
            guard map.entries.count == 2, let cid = map["cid"]?.string, StringFormat.cid.accepts(cid) else {
                return wrongType("a blob")
            }
        }
        guard case .string(let mimeType) = map["mimeType"] else { return wrongType("a blob") }
        guard schema.accepts(mimeType) else { return Violation(.blob, path: ".mimeType", message: "is not accepted") }
        if let size, let maximum = schema.maximumSize, size > maximum {
            return Violation(.blob, path: ".size", message: "is above \(maximum) bytes")
        }
        return nil
    }

    private func wrongType(_ wanted: String) -> Violation { Violation(.type, path: "", message: "must be \(wanted)") }

    private func length(_ found: String) -> Violation {
        Violation(.length, path: "", message: "has a length out of bounds: \(found)")
    }
}
