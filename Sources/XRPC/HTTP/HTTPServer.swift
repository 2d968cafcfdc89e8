/// An HTTP/1.1 server on libmicrohttpd, within limits. Thread-safe.
///
/// A few threads read and write all sockets. A handler that has to wait does so in a task of its own, while its
/// connection is suspended and costs no thread. A server that is let go without `stop` ends by itself.
public final class HTTPServer: Sendable {
    public typealias Handler = @Sendable (HTTPRequest) -> HTTPReply

    private let daemon: HTTPDaemon

    /// Listens and serves at once.
    /// - Parameters:
    ///   - listen: `host:port`; port 0 takes a free one.
    ///   - refusals: makes the answer of what is refused before it gets to the handler.
    ///   - handler: called on the threads of the server: it must not wait, but may reply `.later`.
    public init(
        listen: String, limits: HTTPLimits = HTTPLimits(), refusals: @escaping @Sendable (XRPCError) -> HTTPResponse,
        handler: @escaping Handler
    ) throws(ServerError) {
        daemon = try HTTPDaemon(listen: listen, limits: limits, refusals: refusals, handler: handler)
    }

    deinit { daemon.abandon() }

    /// Where it listens; the port is the one that it got.
    public var port: UInt16 { daemon.port }

    /// Connections that are open.
    public var connectionCount: Int { daemon.connectionCount }

    /// Takes no new request, lets those that are being answered finish, and returns when all threads have ended.
    /// - Parameter deadline: after which what is unanswered is told so.
    public func stop(deadline: Duration = .seconds(3)) async { await daemon.stop(deadline: deadline) }
}
