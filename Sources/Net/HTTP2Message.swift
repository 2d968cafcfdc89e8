/// A header field, as bytes; the name in lower case.
public struct HeaderField: Sendable, Hashable {
    public var name: [UInt8]
    public var value: [UInt8]
    /// Sent as a literal that never enters the HPACK table (`:path`, `authorization`).
    public var neverIndexed: Bool

    public init(_ name: String, _ value: String, neverIndexed: Bool = false) {
        self.init(name: Array(name.utf8), value: Array(value.utf8), neverIndexed: neverIndexed)
    }

    /// From bytes that are there already; fields that share a name's bytes cost nothing to make.
    public init(name: [UInt8], value: [UInt8], neverIndexed: Bool = false) {
        self.name = name
        self.value = value
        self.neverIndexed = neverIndexed
    }
}

/// An answer: its headers whole, and its body as far as it came.
public struct HTTP2Response: Sendable {
    public var status: Int
    /// In order of arrival, without `:status`.
    public var headers: [HeaderField]
    /// At most `HTTP2ClientConnection.maximumBody` bytes; the rest is dropped.
    public var body: [UInt8]
    /// False when the stream ended or timed out before the answer's END_STREAM: the status stands, the body is cut off.
    public var isWhole: Bool

    public init(status: Int, headers: [HeaderField] = [], body: [UInt8] = [], isWhole: Bool = true) {
        self.isWhole = isWhole
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// How a stream ended without an answer.
public enum StreamFailure: Error, Sendable, Hashable {
    /// REFUSED_STREAM, or above the GOAWAY's last stream id, or never written: surely not processed.
    case notProcessed
    /// Reset, or the connection was lost: it may have been processed.
    case ambiguous(String)
    /// The request's own deadline passed.
    case timedOut
}
