/// A value inside a lexicon document, with its path for messages.
struct LexiconNode {
    let value: Value
    let path: String

    init(_ value: Value, path: String) {
        self.value = value
        self.path = path
    }

    func failure(_ message: String) -> DecodingFailure {
        DecodingFailure(path.isEmpty ? message : "\(path): \(message)")
    }

    func map() throws(DecodingFailure) -> LexiconMap {
        guard case .map(let map) = value else { throw failure("must be an object") }
        return LexiconMap(map: map, path: path)
    }

    func string() throws(DecodingFailure) -> String {
        guard case .string(let text) = value else { throw failure("must be a string") }
        return text
    }

    func integer() throws(DecodingFailure) -> Int64 {
        guard case .integer(let number) = value else { throw failure("must be an integer") }
        return number
    }

    func bool() throws(DecodingFailure) -> Bool {
        guard case .bool(let flag) = value else { throw failure("must be true or false") }
        return flag
    }

    func list<T>(_ item: (LexiconNode) throws(DecodingFailure) -> T) throws(DecodingFailure) -> [T] {
        guard case .array(let items) = value else { throw failure("must be an array") }
        var result: [T] = []
        for (index, value) in items.enumerated() {
            result.append(try item(LexiconNode(value, path: "\(path)[\(index)]")))
        }
        return result
    }
}

/// An object inside a lexicon document. Its readers give nil for a member that is absent.
struct LexiconMap {
    let map: ValueMap
    let path: String

    var keys: [String] { map.entries.map(\.key) }

    func failure(_ message: String) -> DecodingFailure { LexiconNode(.null, path: path).failure(message) }

    func child(_ key: String) throws(DecodingFailure) -> LexiconNode? {
        map[key].map { LexiconNode($0, path: path.isEmpty ? key : "\(path).\(key)") }
    }

    func string(_ key: String) throws(DecodingFailure) -> String? { try child(key)?.string() }
    func integer(_ key: String) throws(DecodingFailure) -> Int64? { try child(key)?.integer() }
    func bool(_ key: String) throws(DecodingFailure) -> Bool? { try child(key)?.bool() }

    func strings(_ key: String) throws(DecodingFailure) -> [String]? {
        try child(key)?.list { (node) throws(DecodingFailure) in try node.string() }
    }

    func integers(_ key: String) throws(DecodingFailure) -> [Int64]? {
        try child(key)?.list { (node) throws(DecodingFailure) in try node.integer() }
    }

    /// Refuses members that are not named here; those that begin with `$` may always stand.
    func allow(_ names: String...) throws(DecodingFailure) {
        for key in keys where !names.contains(key) && !key.hasPrefix("$") {
            throw failure("unknown member \"\(key)\"")
        }
    }

    /// The members `minimum…` and `maximum…` of this object.
    func bounds(_ minimum: String, _ maximum: String, from lowest: Int64 = 0) throws(DecodingFailure) -> Bounds {
        let bounds = Bounds(minimum: try integer(minimum), maximum: try integer(maximum))
        for (name, bound) in [(minimum, bounds.minimum), (maximum, bounds.maximum)] {
            if let bound, bound < lowest { throw failure("\(name) must not be negative") }
        }
        if let low = bounds.minimum, let high = bounds.maximum, low > high {
            throw failure("\(minimum) is above \(maximum)")
        }
        return bounds
    }
}
