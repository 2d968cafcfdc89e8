/// One thread that waits on sockets and timers, and runs what it is handed.
///
/// Everything documented as confined to a loop is called on that loop's thread alone.
public final class EventLoop: Sendable {
    public init(name: String) throws { fatalError("stub") }

    /// Runs `job` on the loop's thread, after the jobs handed in before it. Any thread.
    public func execute(_ job: @escaping @Sendable () -> Void) { fatalError("stub") }

    /// Runs `job` on the loop's thread after `delay`. Any thread.
    @discardableResult
    public func schedule(after delay: Duration, _ job: @escaping @Sendable () -> Void) -> Timer { fatalError("stub") }

    /// Monotonic time.
    public var now: ContinuousClock.Instant { fatalError("stub") }

    /// True on the loop's own thread.
    public var isCurrent: Bool { fatalError("stub") }

    /// Ends the thread once the present job is done; returns when it has ended.
    public func stop() { fatalError("stub") }

    public final class Timer: Sendable {
        public func cancel() { fatalError("stub") }
    }
}

public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    public var host: String
    public var port: UInt16
    public init(host: String, port: UInt16) { self.host = host; self.port = port }
    /// From `host:port` or `[v6]:port`.
    public init?(_ text: String) { fatalError("stub") }
    public var description: String { "\(host):\(port)" }
}

/// A shared, immutable TLS configuration. TLS 1.2 or newer, ALPN `h2` required.
public final class TLSContext: Sendable {
    /// A client that trusts the system's roots, or only those in `caFile` (PEM). Checks chain, host name or IP; sends SNI for names.
    public static func client(caFile: String? = nil) throws -> TLSContext { fatalError("stub") }
    /// A server with a certificate chain and a key, both PEM text.
    public static func server(certificatePEM: String, keyPEM: String) throws -> TLSContext { fatalError("stub") }
    init() {}
}

/// A header field, as bytes; the name in lower case.
public struct HeaderField: Sendable, Hashable {
    public var name: [UInt8]
    public var value: [UInt8]
    /// Sent as a literal that never enters the HPACK table (`:path`, `authorization`).
    public var neverIndexed: Bool
    public init(_ name: String, _ value: String, neverIndexed: Bool = false) {
        self.name = Array(name.utf8)
        self.value = Array(value.utf8)
        self.neverIndexed = neverIndexed
    }
}

public struct HTTP2Response: Sendable {
    public var status: Int
    /// In order of arrival, without `:status`.
    public var headers: [HeaderField]
    /// At most `HTTP2ClientConnection.maximumBody` bytes; the rest is dropped.
    public var body: [UInt8]
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

/// Called on the connection's loop.
public protocol HTTP2ClientDelegate: AnyObject {
    /// TLS and SETTINGS are done; requests may be sent.
    func connectionOpened(_ connection: HTTP2ClientConnection)
    /// The peer's MAX_CONCURRENT_STREAMS or the number of open streams changed: more requests may fit.
    func connectionHasRoom(_ connection: HTTP2ClientConnection)
    /// No new streams on this connection; those in flight may still be answered.
    func connection(_ connection: HTTP2ClientConnection, goingAway errorCode: UInt32, debug: [UInt8])
    /// The end: after every stream's result. `error` is nil after `close()`.
    func connectionClosed(_ connection: HTTP2ClientConnection, error: (any Error)?)
}

/// One HTTP/2 connection over TLS. Confined to its loop, apart from its `init`.
public final class HTTP2ClientConnection {
    public static let maximumBody = 64 * 1024

    public struct Options: Sendable {
        public var connectTimeout: Duration = .seconds(10)
        /// TLS handshake and the peer's first SETTINGS.
        public var handshakeTimeout: Duration = .seconds(10)
        /// A PING goes out when nothing was read for this long …
        public var pingAfterIdleRead: Duration = .seconds(30)
        /// … and the connection is dropped when its answer does not come within this.
        public var pingTimeout: Duration = .seconds(10)
        public init() {}
    }

    /// Starts to connect: resolves afresh, tries every address.
    public init(
        to endpoint: Endpoint, tls: TLSContext, on loop: EventLoop, options: Options = Options(),
        delegate: any HTTP2ClientDelegate
    ) { fatalError("stub") }

    /// How many more requests fit now: 0 before opening and after GOAWAY.
    public var room: Int { fatalError("stub") }
    public var openStreams: Int { fatalError("stub") }

    /// Sends a request. `headers` holds the pseudo-headers first. Needs `room > 0`, else it completes with `.notProcessed`.
    /// `completion` is called on the loop exactly once, never inside `request`.
    public func request(
        headers: [HeaderField], body: [UInt8], timeout: Duration,
        completion: @escaping (Result<HTTP2Response, StreamFailure>) -> Void
    ) { fatalError("stub") }

    /// Sends GOAWAY, waits for open streams up to `deadline`, closes.
    public func close(deadline: Duration = .zero) { fatalError("stub") }
}

/// A loopback HTTP/2 server over TLS, for stand-ins. Its handler is called on the loop.
public final class HTTP2Server {
    public init(listen endpoint: Endpoint, tls: TLSContext, on loop: EventLoop, handler: any HTTP2ServerHandler) throws { fatalError("stub") }
    /// The port that was bound (useful with port 0).
    public var port: UInt16 { fatalError("stub") }
    public func close() { fatalError("stub") }
}

public protocol HTTP2ServerHandler: AnyObject {
    /// A request has arrived whole.
    func server(_ connection: HTTP2ServerConnection, stream: Int32, headers: [HeaderField], body: [UInt8])
}

/// One client's connection at the server. Confined to the loop.
public final class HTTP2ServerConnection {
    public func respond(stream: Int32, status: Int, headers: [HeaderField], body: [UInt8]) { fatalError("stub") }
    public func reset(stream: Int32, errorCode: UInt32) { fatalError("stub") }
    public func goAway(lastStream: Int32, errorCode: UInt32, debug: [UInt8]) { fatalError("stub") }
    public func setMaxConcurrentStreams(_ count: UInt32) { fatalError("stub") }
    /// Drops the socket without a word.
    public func abort() { fatalError("stub") }
}
