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

public struct DID: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }
}

public struct NSID: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }
}

public struct RecordKey: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }
}

public struct TID: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }
}

public struct Handle: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }
}

/// `at://AUTHORITY[/COLLECTION[/RKEY]]`, without fragment or query.
public struct ATURI: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    /// A DID or a handle.
    public let authority: String
    public let collection: NSID?
    public let rkey: RecordKey?
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }
}

public struct Datetime: Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public init(_ text: String) throws(SyntaxError) { fatalError("stub") }
}
