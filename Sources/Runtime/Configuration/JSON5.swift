/// A JSON5 value and the line that it stands on, so that a complaint about it can name the place.
///
/// Source: spec.json5.org.
struct JSON5: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON5])
        /// In the order of the file, no key twice.
        case object([Member])
    }

    struct Member: Sendable, Hashable {
        var key: String
        /// The key's line, from 1.
        var line: Int
        var value: JSON5
    }

    var content: Content
    /// From 1.
    var line: Int

    /// What a reader calls it: `a text`, `a list`, …
    var kind: String {
        switch content {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// Why a text is not JSON5, and where.
struct JSON5Error: Error, Hashable {
    /// From 1.
    var line: Int
    /// In characters, from 1.
    var column: Int
    var message: String
}
