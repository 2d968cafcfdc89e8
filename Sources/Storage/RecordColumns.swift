import ATProto

/// The columns that a lexicon gives its collection's table, and how a record fills them.
struct RecordColumns: Sendable {
    struct Column: Sendable, Hashable {
        let name: String
        /// The declared type.
        let type: String
        let isIndexed: Bool
    }

    /// What every record's table begins with.
    static let base = ["uri", "cid", "did", "rkey", "rev", "indexed_at", "record"]

    let columns: [Column]
    /// Properties that got no column, because its name was taken.
    let unplaced: [String]

    /// A property and the place of its (first) column; sorted as the entries of a record are.
    private let properties: [(property: RecordDefinition.Property, place: Int)]

    init(_ definition: [RecordDefinition.Property]) {
        var columns: [Column] = []
        var unplaced: [String] = []
        var properties: [(property: RecordDefinition.Property, place: Int)] = []
        var taken = Set(Self.base)
        for property in definition {
            let own = Self.columns(of: property)
            // SQLite compares the ASCII letters of names without regard to case.
            let names = own.map { $0.name.lowercased() }
            guard taken.isDisjoint(with: names), !own.contains(where: { $0.name.utf8.contains(0) }) else {
                unplaced.append(property.name)
                continue
            }
            taken.formUnion(names)
            properties.append((property, columns.count))
            columns += own
        }
        self.columns = columns
        self.unplaced = unplaced
        self.properties = properties.sorted { Self.precedes($0.property.name, $1.property.name) }
    }

    /// The values of the columns, in order.
    func values(of record: Value) -> [ColumnValue] {
        var values = [ColumnValue](repeating: .null, count: columns.count)
        guard case .map(let map) = record else { return values }
        let entries = map.entries
        // Both are in the same order, so each search begins where the last one ended.
        var next = 0
        for (property, place) in properties {
            var index = next
            while index < entries.count, !Self.isSame(entries[index].key, property.name) { index += 1 }
            guard index < entries.count else { continue }
            next = index + 1
            Self.fill(&values, place, property.kind, entries[index].value)
        }
        return values
    }

    private static func fill(
        _ values: inout [ColumnValue], _ place: Int, _ kind: RecordDefinition.Kind, _ value: Value
    ) {
        switch (kind, value) {
        case (_, .null): break
        case (.strongRef, .map(let reference)):
            if let uri = reference["uri"] { values[place] = plain(uri) }
            if let cid = reference["cid"] { values[place + 1] = plain(cid) }
        case (.boolean, .bool(let value)): values[place] = .integer(value ? 1 : 0)
        case (.integer, .integer(let value)): values[place] = .integer(value)
        case (.string, .string(let value)): values[place] = .text(value)
        case (.bytes, .bytes(let value)): values[place] = .blob(value)
        case (.cidLink, .link(let value)): values[place] = .text(value.description)
        default: values[place] = json(value)
        }
    }

    /// A string as it is, null as NULL, anything else as JSON.
    private static func plain(_ value: Value) -> ColumnValue {
        switch value {
        case .null: .null
        case .string(let text): .text(text)
        default: json(value)
        }
    }

    private static func json(_ value: Value) -> ColumnValue {
        .text(String(decoding: JSON.encode(value), as: UTF8.self))
    }

    private static func columns(of property: RecordDefinition.Property) -> [Column] {
        let name = snakeCase(property.name)
        return switch property.kind {
        case .boolean, .integer: [Column(name: name, type: "INTEGER", isIndexed: false)]
        case .string(let indexed): [Column(name: name, type: "TEXT", isIndexed: indexed)]
        case .bytes: [Column(name: name, type: "BLOB", isIndexed: false)]
        case .cidLink, .json: [Column(name: name, type: "TEXT", isIndexed: false)]
        case .strongRef:
            [
                Column(name: name + "_uri", type: "TEXT", isIndexed: true),
                Column(name: name + "_cid", type: "TEXT", isIndexed: false),
            ]
        }
    }

    /// `replyTo` as `reply_to`: an underscore before each ASCII capital.
    static func snakeCase(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            if ("A"..."Z").contains(scalar) { result.append("_") }
            result.unicodeScalars.append(scalar)
        }
        return result.lowercased()
    }

    /// The data model's order of keys: shorter ones first, then bytewise.
    private static func precedes(_ a: String, _ b: String) -> Bool {
        let (x, y) = (a.utf8, b.utf8)
        return x.count == y.count ? x.lexicographicallyPrecedes(y) : x.count < y.count
    }

    @inline(__always)
    private static func isSame(_ a: String, _ b: String) -> Bool { a.utf8.count == b.utf8.count && a == b }
}
