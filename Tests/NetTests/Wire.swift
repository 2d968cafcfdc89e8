import Synchronization
import Testing

@testable import Net

/// A client and a server on loops of their own, joined by loopback TCP.
final class Wire: Sendable {
    static let certificate = Result { try SelfSignedCertificate() }

    let clientLoop: EventLoop
    let serverLoop: EventLoop
    let server: HTTP2Server
    let handler: ServerHandler

    init(
        tls: TLSContext? = nil, inTheClear: Bool = false, options: HTTP2Server.Options = .init(),
        host: String = "127.0.0.1",
        answer: @escaping ServerHandler.Answer = ServerHandler.echo
    ) throws {
        clientLoop = try EventLoop(name: "client")
        serverLoop = try EventLoop(name: "server")
        handler = ServerHandler(answer)
        let certificate = try Wire.certificate.get()
        let context =
            try tls ?? .server(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        server = try HTTP2Server(
            listen: Endpoint(host: host, port: 0), tls: inTheClear ? nil : context, on: serverLoop, options: options,
            handler: handler)
    }

    deinit {
        clientLoop.stop()
        serverLoop.stop()
    }

    /// A client of the server, trusting its authority.
    func client(
        host: String = "127.0.0.1", tls: TLSContext? = nil, inTheClear: Bool = false,
        options: HTTP2ClientConnection.Options = .init()
    ) throws -> Client {
        let tls = try inTheClear ? nil : tls ?? .client(caPEM: Wire.certificate.get().caPEM)
        return Client(Endpoint(host: host, port: server.port), tls: tls, on: clientLoop, options: options)
    }
}

/// Answers by a closure, on the server's loop, and counts.
final class ServerHandler: HTTP2ServerHandler, @unchecked Sendable {
    // Sendable: `requests` is used on the server's loop alone, and the rest is constant.
    typealias Answer = (HTTP2ServerConnection, Int32, _ headers: [HeaderField], _ body: [UInt8], _ number: Int) -> Void

    private let answer: Answer
    private var requests = 0
    private let ends = Events<String>()

    init(_ answer: @escaping Answer) { self.answer = answer }

    func server(_ connection: HTTP2ServerConnection, stream: Int32, headers: [HeaderField], body: [UInt8]) {
        requests += 1
        answer(connection, stream, headers, body, requests)
    }

    func serverDisconnected(_: HTTP2ServerConnection, error: (any Error)?) {
        ends.add(error.map { "\($0)" } ?? "closed")
    }

    /// Waits for a connection's end, and says why it ended.
    func disconnected() async -> String { await ends.next() }

    static func echo(
        _ connection: HTTP2ServerConnection, _ stream: Int32, _ headers: [HeaderField], _ body: [UInt8], _: Int
    ) {
        connection.respond(stream: stream, status: 200, headers: headers.filter { $0.name.first != 0x3A }, body: body)
    }
}

/// A connection whose events can be awaited.
final class Client: HTTP2ClientDelegate, @unchecked Sendable {
    // Sendable: `connection` is set once before anyone sees it, and used on its loop.
    enum Event: Equatable {
        case opened
        case goingAway(UInt32, String)
        case closed(String?)
    }

    typealias Answer = Result<HTTP2Response, StreamFailure>

    let loop: EventLoop
    private(set) var connection: HTTP2ClientConnection!
    private let events = Events<Event>()
    private let roomEvents = Events<Int>()

    init(_ endpoint: Endpoint, tls: TLSContext?, on loop: EventLoop, options: HTTP2ClientConnection.Options) {
        self.loop = loop
        connection = HTTP2ClientConnection(to: endpoint, tls: tls, on: loop, options: options, delegate: self)
    }

    func connectionOpened(_ connection: HTTP2ClientConnection) { events.add(.opened) }
    func connectionRoomChanged(_ connection: HTTP2ClientConnection) { roomEvents.add(connection.room) }
    func connection(_ connection: HTTP2ClientConnection, goingAway errorCode: UInt32, debug: [UInt8]) {
        events.add(.goingAway(errorCode, String(decoding: debug, as: UTF8.self)))
    }
    func connectionClosed(_ connection: HTTP2ClientConnection, error: (any Error)?) {
        events.add(.closed(error.map { "\($0)" }))
    }

    /// The next event but for those of room.
    func next() async -> Event { await events.next() }
    /// The next room that is told of.
    func nextRoom() async -> Int { await roomEvents.next() }
    /// Waits until the room is told to be `count`.
    func room(_ count: Int) async { while await roomEvents.next() != count {} }

    /// Runs `body` on the connection's loop.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (HTTP2ClientConnection) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body(self.connection)) }
        }
    }

    func close(deadline: Duration = .zero) { loop.execute { self.connection.close(deadline: deadline) } }

    static func headers(path: String = "/", more: [HeaderField] = []) -> [HeaderField] {
        [
            HeaderField(":method", "POST"), HeaderField(":scheme", "https"), HeaderField(":authority", "localhost"),
            HeaderField(":path", path, neverIndexed: true),
        ] + more
    }

    func send(path: String = "/", _ body: [UInt8] = [], timeout: Duration = .seconds(20)) async -> Answer {
        await burst(1, path: path, body, timeout: timeout)[0]
    }

    /// Sends `count` requests in one turn; their answers in the order of sending.
    func burst(
        _ count: Int, path: String = "/", _ body: [UInt8] = [], timeout: Duration = .seconds(20)
    ) async -> [Answer] {
        await withCheckedContinuation { continuation in
            loop.execute {
                let answers = Gathered(count, continuation)
                for index in 0..<count {
                    let headers = Client.headers(path: path, more: [HeaderField("n", "\(index)")])
                    self.connection.request(headers: headers, body: body, timeout: timeout) { answers.set(index, $0) }
                }
                answers.finishIfEmpty()
            }
        }
    }

    /// Sends `count` requests, as many at once as there is room for.
    func stream(_ count: Int, _ body: [UInt8]) async -> [Answer] {
        await withCheckedContinuation { continuation in
            loop.execute { self.pump(Gathered(count, continuation), body) }
        }
    }

    private func pump(_ answers: Gathered, _ body: [UInt8]) {
        while connection.room > 0, let index = answers.take() {
            let path = "/\(index)"
            connection.request(headers: Client.headers(path: path), body: body, timeout: .seconds(20)) { answer in
                answers.set(index, answer)
                self.pump(answers, body)
            }
        }
    }
}

/// The answers to a number of requests. Used on one loop; sendable only to get there.
private final class Gathered: @unchecked Sendable {
    private var answers: [Client.Answer?]
    private var missing: Int
    private var begun = 0
    private let continuation: CheckedContinuation<[Client.Answer], Never>

    init(_ count: Int, _ continuation: CheckedContinuation<[Client.Answer], Never>) {
        answers = Array(repeating: nil, count: count)
        missing = count
        self.continuation = continuation
    }

    /// The number of the next request to send; nil when all are sent.
    func take() -> Int? {
        guard begun < answers.count else { return nil }
        defer { begun += 1 }
        return begun
    }

    func set(_ index: Int, _ answer: Client.Answer) {
        #expect(answers[index] == nil, "a completion is called once")
        answers[index] = answer
        missing -= 1
        finishIfEmpty()
    }

    func finishIfEmpty() { if missing == 0 { continuation.resume(returning: answers.compactMap(\.self)) } }
}

/// Things that happen, to be awaited in order by one reader.
final class Events<Event: Sendable>: Sendable {
    private let stream: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func add(_ event: Event) { continuation.yield(event) }

    func next() async -> Event {
        for await event in stream { return event }
        fatalError("the stream of events never ends")
    }
}

extension Result where Success == HTTP2Response, Failure == StreamFailure {
    var status: Int? { try? get().status }
    var failure: StreamFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
    var isAmbiguous: Bool {
        if case .failure(.ambiguous) = self { true } else { false }
    }
}
