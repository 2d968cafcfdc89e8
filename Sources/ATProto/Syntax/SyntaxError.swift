/// Why a text is not the identifier that it should be.
public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was expected: `did`, `nsid`, `at-uri`, …
    public var kind: String
    public var reason: String

    public init(kind: String, reason: String) {
        self.kind = kind
        self.reason = reason
    }

    public var description: String { "not a valid \(kind): \(reason)" }
}
