import Glibc
import TestSupport
import Testing

@testable import Net

/// Requests over real sockets, and the addresses that they may not lead to.
@Suite(.fewAtATime) struct WebClientTests {
    /// Every spelling of an address that a stranger could give; `PORT` stands for that of a listening socket.
    static let privateHosts = [
        "127.0.0.1:PORT", "127.0.0.2:PORT", "localhost:PORT", "x.localhost:PORT", "127.1:PORT", "2130706433:PORT",
        "0x7f000001:PORT", "0177.0.0.1:PORT", "0x7f.1:PORT", "0:PORT", "0.0.0.0:PORT", "[::1]:PORT", "[::]:PORT",
        "[::ffff:127.0.0.1]:PORT", "[::ffff:7f00:1]:PORT", "[::127.0.0.1]:PORT", "[64:ff9b::7f00:1]:PORT",
        "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fd00::1]",
        "[fec0::1]", "[ff02::1]", "[2002:7f00:1::]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "255.255.255.255",
    ]

    @Test(arguments: privateHosts) func privateAddressesAreNotConnectedTo(host: String) async throws {
        let listener = try Listener()
        let client = try WebClient()
        defer { client.stop() }
        let url = "http://\(host.replacing("PORT", with: "\(listener.port)"))/"
        await #expect(throws: WebError.forbiddenAddress) { try await client.get(url, policy: .publicOnly) }
        #expect(!listener.hasVisitor)
    }

    /// A connection that is open already is not taken over by a request that may not open one.
    @Test func anOpenConnectionOpensNothing() async throws {
        let listener = try Listener()
        listener.answer(times: 2, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let client = try WebClient()
        defer { client.stop() }
        let url = "http://127.0.0.1:\(listener.port)/"
        #expect(try await client.get(url, policy: .any).body == Array("ok".utf8))
        await #expect(throws: WebError.forbiddenAddress) { try await client.get(url, policy: .publicOnly) }
        #expect(try await client.get(url, policy: .any).status == 200)
    }

    @Test func postsItsBody() async throws {
        let listener = try Listener()
        let request = listener.answer(times: 1, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        let client = try WebClient()
        defer { client.stop() }
        let body = [UInt8]("{\"a\":\"\u{0}\"}".utf8)
        let answer = try await client.send(
            WebRequest(
                url: "http://127.0.0.1:\(listener.port)/x", headers: [("Content-Type", "application/json")], body: body),
            policy: .any)
        #expect(answer.status == 201)
        let text = String(decoding: await request.value, as: UTF8.self)
        #expect(text.hasPrefix("POST /x HTTP/1.1\r\n"))
        #expect(text.contains("\r\nContent-Type: application/json\r\n"))
        #expect(text.contains("\r\nContent-Length: \(body.count)\r\n"))
        #expect(text.hasSuffix("\r\n\r\n" + String(decoding: body, as: UTF8.self)))
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "dict://127.0.0.1/", "", "http://",
    ])
    func otherSchemesAreRefused(url: String) async throws {
        let client = try WebClient()
        defer { client.stop() }
        await #expect(throws: WebError.badURL) { try await client.get(url, policy: .any) }
    }

    @Test func redirectsAreAnswers() async throws {
        let (listener, target) = (try Listener(), try Listener())
        listener.answer(
            times: 1, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:\(target.port)/\r\nContent-Length: 0\r\n\r\n")
        let client = try WebClient()
        defer { client.stop() }
        #expect(try await client.get("http://127.0.0.1:\(listener.port)/", policy: .any).status == 302)
        #expect(!target.hasVisitor)
    }

    /// What libcurl would keep of headers, it keeps for every request.
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", "X-Filler: xxxxxxxx\r\n"), ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-Trailer: xxxxxxxx\r\n"),
    ])
    func headersWithoutEndAreCutOff(head: String, filler: String) async throws {
        let listener = try Listener()
        listener.answer(times: 1, head + String(repeating: filler, count: 100_000))
        let client = try WebClient()
        defer { client.stop() }
        await #expect(throws: WebError.tooLarge) {
            try await client.get("http://127.0.0.1:\(listener.port)/", policy: .any)
        }
    }

    /// libcurl has a limit of its own for one.
    @Test func aHeaderWithoutEndIsCutOff() async throws {
        let listener = try Listener()
        listener.answer(times: 1, "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 4 << 20))
        let client = try WebClient()
        defer { client.stop() }
        await #expect(throws: WebError.self) {
            try await client.get("http://127.0.0.1:\(listener.port)/", policy: .any)
        }
    }

    @Test func longBodiesAreCutOff() async throws {
        let listener = try Listener()
        listener.answer(times: 1, "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 200_000))
        let client = try WebClient()
        defer { client.stop() }
        await #expect(throws: WebError.tooLarge) {
            try await client.get("http://127.0.0.1:\(listener.port)/", policy: .any)
        }
    }
}

/// A socket that listens on every address of the machine, and answers only when it is told to.
private final class Listener: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        descriptor = try Socket.listening(on: Endpoint(host: "::", port: 0))
        port = try SocketAddress(boundTo: descriptor).port
    }

    deinit { close(descriptor) }

    /// Somebody has connected.
    var hasVisitor: Bool {
        let visitor = accept(descriptor, nil, nil)
        if visitor >= 0 { close(visitor) }
        return visitor >= 0
    }

    /// Answers the first so many requests, on however many connections; gives what the first one said.
    @discardableResult
    func answer(times: Int, _ text: String) -> Task<[UInt8], Never> {
        let (bytes, first) = AsyncStream.makeStream(of: [UInt8].self)
        let descriptor = descriptor
        let thread = try? OSThread.start(name: "listener") {
            var left = times
            while left > 0 {
                var listening = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&listening, 1, 20_000) > 0 else { break }
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else { break }
                while left > 0, let request = Self.request(client) {
                    first.yield(request)
                    Self.answer(text, to: client)
                    left -= 1
                }
                close(client)
            }
            first.finish()
        }
        if let thread { pthread_detach(thread) }
        return Task { await bytes.first { _ in true } ?? [] }
    }

    /// As much as the client takes.
    private static func answer(_ text: String, to client: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// One request with its body; nil when the client has gone.
    private static func request(_ client: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let length = text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
                if text[end.upperBound...].utf8.count >= length { return bytes }
            }
            var readable = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
            guard poll(&readable, 1, 20_000) > 0 else { return nil }
            let count = recv(client, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
        }
    }
}
