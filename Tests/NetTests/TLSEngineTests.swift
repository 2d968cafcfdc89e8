import Testing

@testable import Net

/// TLS with no socket between: bytes carried by hand.
@Suite struct TLSEngineTests {
    /// Shakes hands; the error of whichever side fails first, the client's before the server's.
    private func handshake(_ client: TLSEngine, _ server: TLSEngine, bytesAtATime: Int = .max) throws {
        var isDone = (client: false, server: false)
        for _ in 0..<10 where !(isDone.client && isDone.server) {
            isDone.client = try client.handshake()
            carry(from: client, to: server, bytesAtATime) { isDone.server = (try? server.handshake()) ?? false }
            isDone.server = try server.handshake()
            carry(from: server, to: client, bytesAtATime) { isDone.client = (try? client.handshake()) ?? false }
        }
        #expect(isDone.client && isDone.server)
    }

    private func carry(from sender: TLSEngine, to receiver: TLSEngine, _ size: Int = .max, _ each: () -> Void = {}) {
        var buffer = ByteBuffer(capacity: 1)
        sender.takeOutput(into: &buffer)
        while !buffer.isEmpty {
            let count = min(size, buffer.count)
            receiver.receive(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
            buffer.consume(count)
            each()
        }
    }

    private func read(_ engine: TLSEngine) throws -> (bytes: [UInt8], isClosed: Bool) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while true {
            switch try engine.read(into: buffer) {
            case .bytes(let count): bytes += buffer[..<count]
            case .empty: return (bytes, false)
            case .closed: return (bytes, true)
            }
        }
    }

    private func pair(
        _ certificate: SelfSignedCertificate, host: String = "localhost", offersHTTP2: Bool = true
    ) throws -> (client: TLSEngine, server: TLSEngine) {
        let server = try TLSContext.server(
            certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM, offersHTTP2: offersHTTP2)
        let client = try TLSContext.client(caPEM: certificate.caPEM)
        return (try TLSEngine(client: client, host: host), try TLSEngine(server: server))
    }

    @Test(arguments: [1, 7, 1000, Int.max])
    func carriesBytesBothWays(bytesAtATime: Int) throws {
        let (client, server) = try pair(Wire.certificate.get())
        try handshake(client, server, bytesAtATime: bytesAtATime)
        let message = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for (sender, receiver) in [(client, server), (server, client)] {
            try message.withUnsafeBytes { try sender.write($0) }
            carry(from: sender, to: receiver, bytesAtATime)
            #expect(try read(receiver).bytes == message)
        }
        client.shutDown()
        carry(from: client, to: server)
        #expect(try read(server).isClosed)
    }

    @Test(arguments: ["localhost", "127.0.0.1", "::1", "localhost."])
    func acceptsEveryNameOfTheCertificate(host: String) throws {
        let (client, server) = try pair(Wire.certificate.get(), host: host)
        try handshake(client, server)
    }

    @Test(arguments: [
        (SelfSignedCertificate.Case.expired, TLSError.expired),
        (.early, .notYetValid),
        (.otherName, .wrongName("localhost")),
    ])
    func refusesTheCertificate(_ kind: SelfSignedCertificate.Case, _ error: TLSError) throws {
        let (client, server) = try pair(kind.make())
        #expect(throws: error) { try handshake(client, server) }
    }

    @Test func trustsNobodyElse() throws {
        let certificate = try Wire.certificate.get()
        let server = try TLSContext.server(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        for context in [try TLSContext.client(caPEM: SelfSignedCertificate().caPEM), try TLSContext.client()] {
            let engines = (try TLSEngine(client: context, host: "localhost"), try TLSEngine(server: server))
            let error = #expect(throws: TLSError.self) { try handshake(engines.0, engines.1) }
            guard case .untrusted = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func trustsACertificateThatIsItsOwnAuthority() throws {
        // As `HARK_APNS_CA_FILE` may name the server's certificate itself.
        let certificate = try Wire.certificate.get()
        let server = try TLSContext.server(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        let client = try TLSContext.client(caPEM: certificate.certificatePEM)
        try handshake(TLSEngine(client: client, host: "localhost"), TLSEngine(server: server))
    }

    @Test func insistsOnHTTP2() throws {
        let (client, server) = try pair(Wire.certificate.get(), offersHTTP2: false)
        #expect(throws: TLSError.noHTTP2) { try handshake(client, server) }
    }

    @Test func survivesGarbage() throws {
        for garbage in ["HTTP/1.1 400 Bad Request\r\n\r\n", "\u{16}\u{3}\u{1}", String(repeating: "x", count: 70_000)] {
            let (client, server) = try pair(Wire.certificate.get())
            for engine in [client, server] {
                _ = try engine.handshake()
                garbage.utf8.withContiguousStorageIfAvailable { engine.receive(UnsafeRawBufferPointer($0)) }
                _ = try? engine.handshake()
                #expect(throws: (any Error).self) { if try engine.handshake() == false { throw TLSError.noHTTP2 } }
            }
        }
    }

    @Test func refusesAForgedRecord() throws {
        let (client, server) = try pair(Wire.certificate.get())
        try handshake(client, server)
        let forged: [UInt8] = [23, 3, 3, 0, 20] + Array(repeating: 0, count: 20)
        forged.withUnsafeBytes { server.receive($0) }
        #expect(throws: TLSError.self) { try read(server) }
    }

    @Test(arguments: ["", "not PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func refusesWhatIsNoCertificate(text: String) throws {
        let certificate = try Wire.certificate.get()
        #expect(throws: TLSError.self) { try TLSContext.client(caPEM: text) }
        #expect(throws: TLSError.self) { try TLSContext.server(certificatePEM: text, keyPEM: certificate.keyPEM) }
        #expect(throws: TLSError.self) {
            try TLSContext.server(certificatePEM: certificate.certificatePEM, keyPEM: text)
        }
    }

    @Test func refusesAKeyOfAnotherCertificate() throws {
        let (one, other) = (try SelfSignedCertificate(), try SelfSignedCertificate())
        #expect(throws: TLSError.self) {
            try TLSContext.server(certificatePEM: one.certificatePEM, keyPEM: other.keyPEM)
        }
        #expect(throws: TLSError.self) { try TLSContext.client(caFile: "/nonexistent/ca.pem") }
        #expect(throws: TLSError.self) { try SelfSignedCertificate(hosts: ["a,DNS:b"]) }
    }
}

extension SelfSignedCertificate {
    enum Case {
        case expired, early, otherName

        func make() throws -> SelfSignedCertificate {
            switch self {
            case .expired: try SelfSignedCertificate(validDays: -9 ... -1)
            case .early: try SelfSignedCertificate(validDays: 1...9)
            case .otherName: try SelfSignedCertificate(hosts: ["example.com", "127.0.0.1"])
            }
        }
    }
}
