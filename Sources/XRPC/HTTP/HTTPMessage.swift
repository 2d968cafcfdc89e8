/// A request that has come whole.
public struct HTTPRequest: Sendable {
    /// `GET`, `POST`, …, as it was sent.
    public var verb: String
    /// The target up to its question mark, as it was sent: nothing is unescaped.
    public var path: String
    /// What follows the question mark.
    public var query: String
    public var headers: HTTPHeaders
    public var body: [UInt8]
    public var client: ClientAddress

    public init(
        verb: String, target: String, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [],
        client: ClientAddress = .unknown
    ) {
        self.verb = verb
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = mark.map { String(target[..<$0]) } ?? target
        query = mark.map { String(target[target.utf8.index(after: $0)...]) } ?? ""
        self.headers = headers
        self.body = body
        self.client = client
    }

    /// The first value of a query parameter, unescaped; nil where there is none, or none that is UTF-8.
    public func parameter(_ name: String) -> String? {
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = Self.unescape(parts[0]), key == name else { continue }
            return parts.count == 2 ? Self.unescape(parts[1]) : ""
        }
        return nil
    }

    private static func unescape(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                    let escaped = UInt8(String(Substring(digits)), radix: 16)
                else { return nil }
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A request's headers, few as they are, in the order in which they came.
public struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private var entries: [(name: String, value: String)] = []
    /// Bytes of names and values.
    public private(set) var size = 0

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    public var count: Int { entries.count }

    public mutating func append(_ name: String, _ value: String) {
        size += name.utf8.count + value.utf8.count
        entries.append((name.lowercased(), value))
    }

    /// The first value under `name`, which must be in lowercase.
    public subscript(name: String) -> String? { entries.first { $0.name == name }?.value }

    /// How often `name`, in lowercase, occurs.
    public func occurrences(of name: String) -> Int { entries.count { $0.name == name } }
}

/// An answer.
public struct HTTPResponse: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.init(status: status, headers: [("Content-Type", contentType)], body: body)
    }
}

/// How a request is answered: from what is at hand, or once something has been waited for.
public enum HTTPReply: Sendable {
    case now(HTTPResponse)
    case later(@Sendable () async -> HTTPResponse)
}
