/// The set of lexicons that a server knows, by NSID.
public struct Lexicons: Sendable {
    public private(set) var documents: [String: Lexicon] = [:]

    public init(_ documents: some Sequence<Lexicon>) {
        for document in documents { self.documents[document.id.description] = document }
    }

    /// Checks `record` against `collection`'s lexicon; nil when it is valid or when there is no such lexicon.
    public func validate(_ record: Value, as collection: NSID) -> Violation? { fatalError("stub") }
}

/// Why a record does not fit its lexicon.
public struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    /// Low-cardinality: it labels counters.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case type = "wrong-type"
        case required = "missing-property"
        case typeMismatch = "type-not-collection"
        case format = "bad-format"
        case length = "bad-length"
        case range = "out-of-range"
        case closed = "not-in-closed-set"
    }
    public var reason: Reason
    /// `$.subject`, `$.facets[2].index`.
    public var path: String
    public var message: String

    public init(_ reason: Reason, path: String, message: String) {
        self.reason = reason
        self.path = path
        self.message = message
    }

    public var description: String { "\(path): \(message)" }
}
