import Crypto
import Net

/// Sends the same push again and again on one connection, with as many streams as the peer allows. Confined to its loop.
///
/// Unchecked: touched on the loop alone once it has started.
final class WireSender: HTTP2ClientDelegate, HTTP2Requester, @unchecked Sendable {
    private let loop: EventLoop
    private let pushes: Int
    private let tokens: [String]
    private let body: [UInt8]
    private let headers: PreparedHeaders
    private var connection: HTTP2ClientConnection?
    private var sent = 0
    private var ended = 0
    private var refused = 0
    private var continuation: CheckedContinuation<Void, any Error>?

    init(_ push: SamplePush, pushes: Int, port: UInt16, on loop: EventLoop) {
        self.loop = loop
        self.pushes = pushes
        tokens = push.tokens
        body = push.body
        var fields = [
            HeaderField(":method", "POST"), HeaderField(":scheme", "https"),
            HeaderField(":authority", "127.0.0.1:\(port)"),
        ]
        for (name, value) in push.headers {
            fields.append(HeaderField(name, value, neverIndexed: name == "authorization"))
        }
        headers = PreparedHeaders(fields)
    }

    /// Connects, sends all, and returns when the last answer is here.
    func run(to endpoint: Endpoint, tls: TLSContext) async throws {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { [self] in
                self.continuation = continuation
                connection = HTTP2ClientConnection(to: endpoint, tls: tls, on: loop, delegate: self)
            }
        }
        if refused > 0 { throw BenchmarkError("\(refused) pushes were not answered with 200") }
    }

    func connectionOpened(_ connection: HTTP2ClientConnection) { fill(connection) }
    func connectionRoomChanged(_ connection: HTTP2ClientConnection) { fill(connection) }
    func connection(_ connection: HTTP2ClientConnection, goingAway errorCode: UInt32, debug: [UInt8]) {}

    func connectionClosed(_ connection: HTTP2ClientConnection, error: (any Error)?) {
        if let error { continuation?.resume(throwing: error) } else { continuation?.resume() }
        continuation = nil
        self.connection = nil
    }

    private func fill(_ connection: HTTP2ClientConnection) {
        for _ in 0..<min(connection.room, pushes - sent) {
            connection.request(prepared: headers, body: body, timeout: .seconds(30), requester: self) {
                $0.begin(path: "/3/device/", tokens[sent % tokens.count])
            }
            sent += 1
        }
    }

    func requestEnded(_ result: Result<HTTP2Response, StreamFailure>) {
        ended += 1
        if case .success(let response) = result, response.status == 200 {} else { refused += 1 }
        if ended == pushes { connection?.close() }
    }
}
