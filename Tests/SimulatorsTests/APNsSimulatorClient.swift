import Crypto
import Net
import Synchronization

@testable import Simulators

/// One real HTTP/2 connection to a simulator, with `await` around it.
final class APNsSimulatorClient: Sendable {
    typealias Answer = Result<HTTP2Response, StreamFailure>

    /// What the connection said about itself.
    enum End: Equatable {
        case goAway(errorCode: UInt32, debug: String)
        case closed
    }

    /// Kept, so that it runs as long as its client.
    private let simulator: APNsSimulator
    private let loop: EventLoop
    private let wire: Wire
    /// Until the connection is open.
    private let connection: Mutex<HTTP2ClientConnection?> = Mutex(nil)

    init(_ simulator: APNsSimulator, handshakeTimeout: Duration = .seconds(10)) throws {
        self.simulator = simulator
        loop = try EventLoop(name: "apns-client")
        wire = Wire()
        var options = HTTP2ClientConnection.Options()
        options.handshakeTimeout = handshakeTimeout
        let connection = HTTP2ClientConnection(
            to: Endpoint(host: "127.0.0.1", port: simulator.port), tls: try .client(caPEM: simulator.caPEM),
            on: loop, options: options, delegate: wire)
        self.connection.withLock { $0 = connection }
    }

    deinit { loop.stop() }

    func send(_ push: TestPush, timeout: Duration = .seconds(20)) async -> Answer {
        await withCheckedContinuation { continuation in
            guard let connection = connection.withLock({ $0 }) else { return }
            let (loop, wire) = (loop, wire)
            loop.execute {
                wire.whenThereIsRoom(connection) {
                    connection.request(headers: push.headers, body: push.body, timeout: timeout) { answer in
                        continuation.resume(returning: answer)
                    }
                }
            }
        }
    }

    /// All at once, as far as the peer's limit allows.
    func send(_ pushes: [TestPush], timeout: Duration = .seconds(20)) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            for (place, push) in pushes.enumerated() {
                group.addTask { (place, await self.send(push, timeout: timeout)) }
            }
            var answers: [Int: Answer] = [:]
            for await (place, answer) in group { answers[place] = answer }
            return pushes.indices.compactMap { answers[$0] }
        }
    }

    /// Status and reason of an answer; 0 and the failure without one.
    func outcome(of push: TestPush) async -> Outcome { Outcome(await send(push)) }

    /// GOAWAY, or the connection's end without it.
    func end() async -> End {
        await withCheckedContinuation { continuation in
            let wire = wire
            loop.execute { wire.whenEnded { continuation.resume(returning: $0) } }
        }
    }

    func room() async -> Int {
        await withCheckedContinuation { continuation in
            guard let connection = connection.withLock({ $0 }) else { return }
            loop.execute { continuation.resume(returning: connection.room) }
        }
    }

    /// Confined to the loop.
    private final class Wire: HTTP2ClientDelegate, @unchecked Sendable {
        private var waiting: [() -> Void] = []
        private var ended: End?
        private var enders: [(End) -> Void] = []

        func whenThereIsRoom(_ connection: HTTP2ClientConnection, _ job: @escaping () -> Void) {
            if ended != nil || waiting.isEmpty && connection.room > 0 { return job() }
            waiting.append(job)
        }

        func whenEnded(_ job: @escaping (End) -> Void) {
            if let ended { return job(ended) }
            enders.append(job)
        }

        private func end(_ end: End) {
            if ended == nil { ended = end }
            let jobs = waiting
            waiting = []
            for job in jobs { job() }
            let enders = enders
            self.enders = []
            for ender in enders { ender(ended ?? end) }
        }

        func connectionOpened(_ connection: HTTP2ClientConnection) { connectionRoomChanged(connection) }
        func connectionRoomChanged(_ connection: HTTP2ClientConnection) {
            while connection.room > 0, !waiting.isEmpty { waiting.removeFirst()() }
        }
        func connection(_: HTTP2ClientConnection, goingAway errorCode: UInt32, debug: [UInt8]) {
            end(.goAway(errorCode: errorCode, debug: String(decoding: debug, as: UTF8.self)))
        }
        func connectionClosed(_: HTTP2ClientConnection, error: (any Error)?) { end(.closed) }
    }
}

/// What a push came to.
struct Outcome: Equatable, CustomStringConvertible {
    var status: Int
    var reason: String?

    init(_ status: Int, _ reason: String? = nil) {
        self.status = status
        self.reason = reason
    }

    init(_ reason: APNsReason) { self.init(reason.status, reason.rawValue) }

    init(_ answer: APNsSimulatorClient.Answer) {
        switch answer {
        case .success(let response):
            let body = try? PayloadParser.parse(response.body)
            self.init(response.status, body?["reason"]?.string)
        case .failure(.notProcessed): self.init(0, "not processed")
        case .failure(.ambiguous): self.init(0, "ambiguous")
        case .failure(.timedOut): self.init(0, "timed out")
        }
    }

    var description: String { "\(status) \(reason ?? "")" }
}

/// A request to the simulator; begins as one that Apple would accept.
struct TestPush: Sendable {
    var headers: [HeaderField]
    var body: [UInt8]

    init(_ provider: TestProvider, token: String = Self.token, body: String = Self.payload) throws {
        headers = [
            HeaderField(":method", "POST"), HeaderField(":scheme", "https"), HeaderField(":authority", "127.0.0.1"),
            HeaderField(":path", "/3/device/\(token)", neverIndexed: true),
            HeaderField("authorization", "bearer \(provider.jwt)", neverIndexed: true),
            HeaderField("apns-topic", provider.credentials.bundleID), HeaderField("apns-push-type", "alert"),
            HeaderField("apns-priority", "10"),
        ]
        self.body = Array(body.utf8)
    }

    static let token = String(repeating: "0123456789abcdef", count: 4)
    static let payload =
        #"{"aps":{"alert":{"title":"Hello","body":"World"},"sound":"default"},"uri":"at://a/b/c","n":{"x":[1]}}"#

    /// Another value for a header, or none.
    func with(_ name: String, _ value: String?) -> TestPush {
        var push = self
        push.headers.removeAll { $0.name == Array(name.utf8) }
        guard let value else { return push }
        let place = name.hasPrefix(":") ? 0 : push.headers.count
        push.headers.insert(HeaderField(name, value), at: place)
        return push
    }

    func with(body: String) -> TestPush {
        var push = self
        push.body = Array(body.utf8)
        return push
    }
}

/// A provider with its signed token.
struct TestProvider: Sendable {
    var credentials: APNsCredentials
    var jwt: String

    init(bundleID: String = "com.example.app") throws {
        credentials = try .generate(bundleID: bundleID)
        jwt = ""
        jwt = try sign()
    }

    /// A token of this provider with some of its parts replaced.
    func sign(
        header: String? = nil, claims: String? = nil, issuedSecondsAgo age: Int64 = 0, key: String? = nil
    ) throws -> String {
        let now = APNsGateway.nowMilliseconds / 1000
        let header = header ?? #"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#
        let claims = claims ?? #"{"iss":"\#(credentials.teamID)","iat":\#(now - age)}"#
        let key = try PrivateKey(pem: key ?? credentials.keyPEM)
        return try JSONWebToken(header: Array(header.utf8), claims: Array(claims.utf8), signedBy: key).text
    }
}

/// A running simulator and a provider that it knows.
func startSimulator(
    provider: TestProvider, _ change: (inout APNsSimulator.Options) throws -> Void = { _ in }
) throws -> APNsSimulator {
    var options = APNsSimulator.Options(providers: [provider.credentials])
    try change(&options)
    let simulator = try APNsSimulator(options)
    try simulator.start()
    return simulator
}
