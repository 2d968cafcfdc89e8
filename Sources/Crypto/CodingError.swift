/// Why a text is not the encoding of any bytes.
public struct CodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The encoding: `base32`, `base58btc`, `base64`, …
    public var encoding: String
    public var reason: String

    init(_ encoding: String, _ reason: String) {
        self.encoding = encoding
        self.reason = reason
    }

    public var description: String { "not valid \(encoding): \(reason)" }
}
