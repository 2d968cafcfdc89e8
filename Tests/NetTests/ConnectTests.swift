import Glibc
import TestSupport
import Testing

@testable import Net

/// From a name to an open connection, and all that may go wrong between.
@Suite(.fewAtATime) struct ConnectTests {
    @Test func triesEveryAddress() async throws {
        // Loopback's names may have addresses that nobody listens on.
        let wire = try Wire()
        let client = try wire.client(host: "localhost")
        #expect(await client.next() == .opened)
        #expect(await client.send([1]).status == 200)
    }

    @Test func goesOnToTheNextAddress() async throws {
        let wire = try Wire()
        // 192.0.2.0/24 is nobody's (RFC 5737): its packets vanish, or no route leads there. Port 1 of loopback refuses.
        let addresses = try ["192.0.2.1", "127.0.0.1", "127.0.0.1"].enumerated().flatMap { index, host in
            try Resolver.lookUp(Endpoint(host: host, port: index < 2 ? 1 : wire.server.port))
        }
        let result = Events<Bool>()
        wire.clientLoop.execute {
            let dialer = Dialer(Endpoint(host: "several", port: 1), on: wire.clientLoop) { dialed in
                if case .success(let descriptor) = dialed { Glibc.close(descriptor) }
                result.add((try? dialed.get()) != nil)
            }
            dialer.begin(addresses)
        }
        #expect(await result.next())
    }

    @Test func saysWhenNobodyListens() async throws {
        let wire = try Wire()
        let client = Client(
            Endpoint(host: "127.0.0.1", port: 1), tls: try .client(), on: wire.clientLoop, options: .init())
        #expect(await client.next() == .closed("127.0.0.1:1 cannot be reached: Connection refused"))
    }

    @Test func saysWhenTheNameIsUnknown() async throws {
        let wire = try Wire()
        let client = try wire.client(host: "no-such-host.invalid")
        guard case .closed(let reason?) = await client.next() else {
            Issue.record("an unknown name cannot be connected to")
            return
        }
        #expect(reason.hasPrefix("no-such-host.invalid cannot be resolved: "))
    }

    @Test func givesUpOnAPeerThatNeverShakesHands() async throws {
        var options = HTTP2Server.Options()
        options.greeting = .silent
        let wire = try Wire(options: options)
        var short = HTTP2ClientConnection.Options()
        short.handshakeTimeout = .milliseconds(30)
        let client = try wire.client(options: short)
        #expect(await client.next() == .closed("timed out waiting for the TLS handshake and the peer's SETTINGS"))
    }

    @Test func hasNoRoomBeforeItIsOpen() async throws {
        var options = HTTP2Server.Options()
        options.greeting = .silent
        let wire = try Wire(options: options)
        var patient = HTTP2ClientConnection.Options()
        patient.handshakeTimeout = .seconds(300)
        let client = try wire.client(options: patient)
        #expect(await client.onLoop(\.room) == 0)
        #expect(await client.send().failure == .notProcessed)
        client.close()
        #expect(await client.next() == .closed(nil))
    }

    @Test(arguments: [false, true])
    func closesWhileConnecting(hasBegun: Bool) async throws {
        let wire = try Wire()
        let ends = Events<String>()
        wire.clientLoop.execute {
            let connection = HTTP2ClientConnection(
                to: Endpoint(host: "localhost", port: wire.server.port), tls: nil, on: wire.clientLoop,
                delegate: Ends(ends))
            // Either before the loop has begun to connect, or right after, while the name is being looked up.
            if hasBegun {
                wire.clientLoop.execute { connection.close(deadline: .seconds(20)) }
            } else {
                connection.close(deadline: .seconds(20))
            }
        }
        #expect(await ends.next() == "nil")
    }

    @Test func refusesAPeerWithoutHTTP2() async throws {
        let certificate = try Wire.certificate.get()
        let plain = try TLSContext.server(
            certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM, offersHTTP2: false)
        let wire = try Wire(tls: plain)
        let client = try wire.client()
        #expect(await client.next() == .closed("the peer does not speak HTTP/2"))
    }

    @Test func refusesAnUnknownAuthority() async throws {
        let wire = try Wire()
        let client = try wire.client(tls: .client(caPEM: SelfSignedCertificate().caPEM))
        guard case .closed(let reason?) = await client.next() else {
            Issue.record("an unknown authority is not trusted")
            return
        }
        #expect(reason.hasPrefix("the peer's certificate is not trusted: "))
        #expect(await wire.handler.disconnected().hasPrefix("TLS handshake failed: "))
    }

    @Test func saysWhenThePeerSpeaksNoTLS() async throws {
        let wire = try Wire(inTheClear: true)
        let client = try wire.client()
        #expect(await client.next() == .closed("TLS handshake failed: the peer does not speak TLS"))
    }

    @Test(arguments: [
        (["localhost"], "127.0.0.1", "the peer's certificate is not for 127.0.0.1"),
        (["example.com"], "localhost", "the peer's certificate is not for localhost"),
        (["127.0.0.2"], "127.0.0.1", "the peer's certificate is not for 127.0.0.1"),
    ])
    func checksTheName(hosts: [String], host: String, reason: String) async throws {
        let certificate = try SelfSignedCertificate(hosts: hosts)
        let wire = try Wire(tls: .server(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM))
        let client = try wire.client(host: host, tls: .client(caPEM: certificate.caPEM))
        #expect(await client.next() == .closed(reason))
    }

    @Test(arguments: [
        RawCase("another protocol", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), .stay, "broke the rules of HTTP/2"),
        RawCase("a hang-up", [], .hangUp, "the peer closed the connection"),
        RawCase("a hang-up within a frame", [0, 0, 9, 4], .hangUp, "the peer closed the connection"),
        RawCase("a hang-up after GOAWAY", Frames.settings + Frames.goAway(last: 0, error: 0), .hangUp, "in peace"),
        RawCase(
            "a GOAWAY", Frames.settings + Frames.goAway(last: 0, error: 11, debug: "no"), .stay, "ENHANCE_YOUR_CALM no"),
        RawCase("silence", [], .stay, "timed out waiting for the TLS handshake and the peer's SETTINGS"),
        RawCase("a reset", [], .reset, "Connection reset by peer"),
    ])
    func endsWhateverIsOnTheOtherSide(_ raw: RawCase) async throws {
        let server = try RawServer(says: raw.words, then: raw.end)
        defer { server.stop() }
        let loop = try EventLoop(name: "client")
        defer { loop.stop() }
        var options = HTTP2ClientConnection.Options()
        options.handshakeTimeout = .milliseconds(raw.testDescription == "silence" ? 30 : 20_000)
        let client = Client(Endpoint(host: "127.0.0.1", port: server.port), tls: nil, on: loop, options: options)
        var event = await client.next()
        // Some have time to be opened, and to say that they go.
        for _ in 0..<2 {
            if case .closed = event { break }
            event = await client.next()
        }
        guard case .closed(let reason) = event else {
            Issue.record("\(event)")
            return
        }
        #expect((reason ?? "in peace").contains(raw.reason))
    }
}

struct RawCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let words: [UInt8]
    let end: RawServer.End
    let reason: String

    init(_ name: String, _ words: [UInt8], _ end: RawServer.End, _ reason: String) {
        testDescription = name
        self.words = words
        self.end = end
        self.reason = reason
    }
}

private final class Ends: HTTP2ClientDelegate {
    private let ends: Events<String>
    init(_ ends: Events<String>) { self.ends = ends }
    func connectionOpened(_: HTTP2ClientConnection) {}
    func connectionRoomChanged(_: HTTP2ClientConnection) {}
    func connection(_: HTTP2ClientConnection, goingAway _: UInt32, debug _: [UInt8]) {}
    func connectionClosed(_: HTTP2ClientConnection, error: (any Error)?) { ends.add(error.map { "\($0)" } ?? "nil") }
}
