import Net
import Synchronization

@testable import Push

/// A real HTTP/2 server over TLS that answers as a test's script says.
final class Gateway: HTTP2ServerHandler, @unchecked Sendable {
    /// One request, as it arrived. Answers are given on the gateway's loop.
    struct Request: @unchecked Sendable {
        /// From 1.
        var number: Int
        /// From 1.
        var connection: Int
        /// Which request of its connection it is, from 1.
        var place: Int
        var fields: [(name: String, value: String)]
        var body: [UInt8]
        let gateway: Gateway
        let peer: HTTP2ServerConnection
        let stream: Int32

        subscript(name: String) -> String { fields.first { $0.name == name }?.value ?? "" }
        var token: String { String(self[":path"].dropFirst("/3/device/".count)) }
        var id: String { self["apns-id"] }

        func answer(_ status: Int, _ body: String = "", retryAfter: String? = nil, frameSize: Int = .max) {
            let headers = retryAfter.map { [HeaderField("retry-after", $0)] } ?? []
            peer.respond(
                stream: stream, status: status, headers: headers, body: Array(body.utf8), dataFrameSize: frameSize)
            if status == 200 { gateway.state.withLock { $0.accepted.append(self) } }
        }

        func refuse(_ status: Int, _ reason: String, retryAfter: String? = nil) {
            answer(status, "{\"reason\":\"\(reason)\"}", retryAfter: retryAfter)
        }
    }

    typealias Script = @Sendable (Request) -> Void

    private struct State {
        var received: [Request] = []
        var accepted: [Request] = []
        var connections: [ObjectIdentifier: (number: Int, requests: Int)] = [:]
        var connectionCount = 0
        var openConnections = 0
        var mostOpenConnections = 0
    }

    /// One for all: two authorities of one name cannot stand in one file of roots.
    private static let certificate = Result { try SelfSignedCertificate() }

    let caPEM: String
    private let loop: EventLoop
    private let tls: TLSContext
    private let script: Script
    private let onConnect: (@Sendable (HTTP2ServerConnection) -> Void)?
    private let state = Mutex(State())
    private let server = Mutex<HTTP2Server?>(nil)
    let port: UInt16

    /// - Parameters:
    ///   - port: 0 for any that is free.
    ///   - certificate: one that all gateways share when nil.
    init(
        options: HTTP2Server.Options = HTTP2Server.Options(), port: UInt16 = 0,
        certificate other: SelfSignedCertificate? = nil, offersHTTP2: Bool = true,
        onConnect: (@Sendable (HTTP2ServerConnection) -> Void)? = nil, script: @escaping Script
    ) throws {
        let certificate = try other ?? Self.certificate.get()
        caPEM = try Self.certificate.get().caPEM
        tls = try TLSContext.server(
            certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM, offersHTTP2: offersHTTP2)
        self.onConnect = onConnect
        loop = try EventLoop(name: "gateway")
        self.script = script
        let listener = Listener()
        let server = try HTTP2Server(
            listen: Endpoint(host: "127.0.0.1", port: port), tls: tls, on: loop, options: options, handler: listener)
        self.port = server.port
        listener.gateway = self
        self.server.withLock { $0 = server }
    }

    var endpoint: Endpoint { Endpoint(host: "127.0.0.1", port: port) }
    var received: [Request] { state.withLock { $0.received } }
    /// Those answered 200.
    var accepted: [Request] { state.withLock { $0.accepted } }
    var connectionCount: Int { state.withLock { $0.connectionCount } }
    var mostOpenConnections: Int { state.withLock { $0.mostOpenConnections } }

    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) { loop.schedule(after: delay, job) }

    func stop() {
        server.withLock { server in
            server?.close()
            server = nil
        }
        loop.stop()
    }

    /// Stops, and lets go of its requests, which hold it.
    func end() {
        stop()
        // Let go of outside the lock, since that ends connections, which report here.
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        _ = consume old
    }

    func serverConnected(_ connection: HTTP2ServerConnection) {
        state.withLock { state in
            state.connectionCount += 1
            state.openConnections += 1
            state.mostOpenConnections = max(state.mostOpenConnections, state.openConnections)
            state.connections[ObjectIdentifier(connection)] = (state.connectionCount, 0)
        }
        onConnect?(connection)
    }

    func serverDisconnected(_ connection: HTTP2ServerConnection, error: (any Error)?) {
        state.withLock { state in
            guard state.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
            state.openConnections -= 1
        }
    }

    func server(_ connection: HTTP2ServerConnection, stream: Int32, headers: [HeaderField], body: [UInt8]) {
        let fields = headers.map {
            (name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
        }
        let request = state.withLock { state in
            let key = ObjectIdentifier(connection)
            state.connections[key, default: (0, 0)].requests += 1
            let known = state.connections[key] ?? (0, 0)
            let request = Request(
                number: state.received.count + 1, connection: known.number, place: known.requests, fields: fields,
                body: body, gateway: self, peer: connection, stream: stream)
            state.received.append(request)
            return request
        }
        script(request)
    }
}

/// Stands between server and gateway, which each want the other first.
private final class Listener: HTTP2ServerHandler, @unchecked Sendable {
    weak var gateway: Gateway?

    func serverConnected(_ connection: HTTP2ServerConnection) { gateway?.serverConnected(connection) }

    func serverDisconnected(_ connection: HTTP2ServerConnection, error: (any Error)?) {
        gateway?.serverDisconnected(connection, error: error)
    }

    func server(_ connection: HTTP2ServerConnection, stream: Int32, headers: [HeaderField], body: [UInt8]) {
        gateway?.server(connection, stream: stream, headers: headers, body: body)
    }
}
