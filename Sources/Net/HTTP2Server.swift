import CLinux
import Glibc

/// Called on the server's loop.
public protocol HTTP2ServerHandler: AnyObject {
    /// A request has arrived whole. `headers` are in order of arrival, pseudo-headers included.
    func server(_ connection: HTTP2ServerConnection, stream: Int32, headers: [HeaderField], body: [UInt8])
    /// A client has finished its TLS handshake.
    func serverConnected(_ connection: HTTP2ServerConnection)
    /// A connection has ended; `error` is nil when this side ended it.
    func serverDisconnected(_ connection: HTTP2ServerConnection, error: (any Error)?)
}

extension HTTP2ServerHandler {
    public func serverConnected(_: HTTP2ServerConnection) {}
    public func serverDisconnected(_: HTTP2ServerConnection, error: (any Error)?) {}
}

/// A loopback HTTP/2 server over TLS, for stand-ins. Its handler is called on the loop.
///
/// It keeps itself and its handler alive until `close()`.
///
/// Sendable because all that changes after `init` is touched on the loop alone.
public final class HTTP2Server: @unchecked Sendable {
    /// What a server says and does; the faults are for tests of clients.
    public struct Options: Sendable {
        public enum Greeting: Sendable {
            case normal
            /// Accepts TCP, and never says a word.
            case silent
        }

        /// Nil sets no limit.
        public var maxConcurrentStreams: UInt32? = 1000
        /// How many bytes a client may send on a stream before the window is opened further.
        public var streamWindow: UInt32 = 1 << 20
        /// The same for all streams of a connection together; not below 65,535.
        public var connectionWindow = 16 << 20
        /// The largest body in bytes that is taken; larger ones are answered with 413.
        public var maximumBody = 64 * 1024
        public var handshakeTimeout: Duration = .seconds(10)
        public var greeting = Greeting.normal
        public var acknowledgesSettings = true
        public var answersPings = true
        /// False leaves every window as small as what has come through it.
        public var opensWindows = true
        public init() {}
    }

    let options: Options
    /// The port that was bound (useful with port 0).
    public let port: UInt16
    private let loop: EventLoop
    private let tls: TLSContext?
    private let descriptor: Int32
    private(set) var handler: (any HTTP2ServerHandler)?
    private var connections: [ObjectIdentifier: HTTP2ServerConnection] = [:]
    private var isListening = true
    private var isWatched = false

    /// Listens at once. Without `tls` it speaks HTTP/2 in the clear, with prior knowledge.
    ///
    /// Throws `SystemError` or `ConnectionError.unresolved` when it cannot listen on `endpoint`.
    public init(
        listen endpoint: Endpoint, tls: TLSContext?, on loop: EventLoop, options: Options = Options(),
        handler: any HTTP2ServerHandler
    ) throws {
        self.options = options
        self.loop = loop
        self.tls = tls
        self.handler = handler
        descriptor = try Socket.listening(on: endpoint)
        do {
            port = try SocketAddress(boundTo: descriptor).port
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        loop.execute { self.start() }
    }

    /// Stops to listen, says GOAWAY to every client and closes. Any thread; done once the loop comes to it.
    public func close() {
        if loop.isCurrent { closeAll() } else { loop.execute { self.closeAll() } }
    }

    private func start() {
        guard isListening else { return }
        loop.worker.enter(self)
        do {
            try loop.worker.watch(descriptor, for: .readable, self)
            isWatched = true
        } catch {
            closeAll()
        }
    }

    private func closeAll() {
        guard isListening else { return }
        isListening = false
        if isWatched { loop.worker.unwatch(descriptor) }
        Glibc.close(descriptor)
        for connection in connections.values { connection.close() }
        handler = nil
        loop.worker.leave(self)
    }

    private func accept(_ client: Int32) {
        do {
            let connection = try HTTP2ServerConnection(client, of: self, tls: tls, on: loop)
            connections[ObjectIdentifier(connection)] = connection
            connection.start()
        } catch {
            Glibc.close(client)
        }
    }

    func connectionEnded(_ connection: HTTP2ServerConnection, _ error: (any Error)?) {
        connections[ObjectIdentifier(connection)] = nil
        handler?.serverDisconnected(connection, error: error)
    }
}

extension HTTP2Server: SocketHandler {
    func ready(_: Readiness) {
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        for _ in 0..<64 where isListening {
            let client = accept4(descriptor, nil, nil, flags)
            if client >= 0 {
                accept(client)
                continue
            }
            let code = errno
            if code == EINTR || code == ECONNABORTED { continue }
            if code == EMFILE || code == ENFILE { pauseAccepting() }
            return
        }
    }

    /// Out of descriptors: the clients wait in the kernel's queue, and the loop does not spin meanwhile.
    private func pauseAccepting() {
        try? loop.worker.rewatch(descriptor, for: [])
        loop.schedule(after: .milliseconds(100)) { [weak self] in
            guard let self, isListening else { return }
            try? loop.worker.rewatch(descriptor, for: .readable)
        }
    }
}

extension HTTP2Server: LoopResident {
    func turnEnds() {}

    func loopStops() { closeAll() }
}
