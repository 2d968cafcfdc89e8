/// Why a record does not fit its lexicon.
public struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    /// Low-cardinality: it labels counters.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case type = "wrong-type"
        case null = "null-value"
        case required = "missing-property"
        case typeMismatch = "type-not-collection"
        case format = "bad-format"
        case length = "bad-length"
        case range = "out-of-range"
        case closed = "not-in-closed-set"
        case blob = "blob-not-accepted"
        case depth = "too-deep"
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

    /// The same violation, seen from the container that holds it under `step`.
    func inside(_ step: String) -> Violation { Violation(reason, path: step + path, message: message) }
}
