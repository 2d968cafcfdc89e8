import ATProto
import TestSupport
import Testing

@testable import XRPC

/// Clients that mean no good: each costs its own connection, and others are answered meanwhile.
@Suite(.fewAtATime) struct HostileHTTPTests {
    private let register = "/xrpc/social.hatk.push.registerToken"

    private func answersOthers(_ stage: PushStage) async throws -> Bool {
        try await WireClient.ask(stage.server.port, "GET", "/_health").status == 200
    }

    @Test func aBodyWithoutEndIsCutOff() async throws {
        let stage = try PushStage()
        let client = try WireClient(port: stage.server.port)
        try await client.send(
            "POST \(register) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        let chunk = Array("8000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x8000) + Array("\r\n".utf8)
        var sent = 0
        while sent < 64 << 20, try await client.send(chunk) { sent += chunk.count }
        // What the socket's buffers hold is sent without anybody reading it.
        #expect(sent < 32 << 20)
        #expect(try await answersOthers(stage))
        await stage.stop()
    }

    @Test func aLongBodyInChunksIsRefusedWhenItHasCome() async throws {
        let stage = try PushStage()
        let client = try WireClient(port: stage.server.port)
        let chunks =
            String(repeating: "1000\r\n" + String(repeating: " ", count: 0x1000) + "\r\n", count: 20) + "0\r\n\r\n"
        try await client.send(
            "POST \(register) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
        )
        let answer = try await client.answer()
        #expect(answer.status == 413)
        #expect(answer.error == "PayloadTooLarge")
        await stage.stop()
    }

    /// Bytes that trickle in would keep a time limit for silence from ever passing.
    @Test func aTrickleIsCutOff() async throws {
        let stage = try PushStage { $0.limits.transferTimeout = .milliseconds(500) }
        let client = try WireClient(port: stage.server.port)
        try await client.send("GET /_health HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        let limit = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < limit, try await client.send("x") {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(ContinuousClock.now < limit)
        #expect(try await answersOthers(stage))
        await stage.stop()
    }

    @Test(arguments: [true, false])
    func idleConnectionsMakeRoom(ofOneAddress: Bool) async throws {
        let stage = try PushStage {
            if ofOneAddress { $0.limits.maximumConnectionsPerAddress = 16 } else { $0.limits.maximumConnections = 16 }
        }
        var idle: [WireClient] = []
        for _ in 0..<200 { idle.append(try WireClient(port: stage.server.port)) }
        #expect(try await answersOthers(stage))
        #expect(try await idle[0].isClosed())
        idle = []
        await stage.stop()
    }

    @Test func thousandsOfIdleConnections() async throws {
        let stage = try PushStage()
        var idle: [WireClient] = []
        for _ in 0..<3000 { idle.append(try WireClient(port: stage.server.port)) }
        #expect(try await answersOthers(stage))
        idle = []
        await stage.stop()
    }

    @Test func anAnswerThatIsNeverFound() async throws {
        let stage = try PushStage {
            $0.limits.handlerTimeout = .milliseconds(300)
            $0.pages["/hang"] = { _ in
                try await Task.sleep(for: .seconds(600))
                return HTTPResponse(status: 200)
            }
        }
        let answer = try await WireClient.ask(stage.server.port, "GET", "/hang")
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] != nil)
        await stage.stop()
    }

    @Test func stoppingAnswersWhatIsUnanswered() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let stage = try PushStage {
            $0.pages["/hang"] = { _ in
                begin.yield()
                try await Task.sleep(for: .seconds(600))
                return HTTPResponse(status: 200)
            }
        }
        async let answer = WireClient.ask(stage.server.port, "GET", "/hang")
        for await _ in begun { break }
        await stage.server.stop(deadline: .zero)
        #expect(try await answer.status == 503)
        #expect(throws: WireError.self) { try WireClient(port: stage.server.port) }
        await stage.stop()
    }

    @Test func severalRequestsAtOnceAreAnsweredInOrder() async throws {
        let stage = try PushStage()
        let client = try WireClient(port: stage.server.port)
        try await client.send(
            "GET /_health HTTP/1.1\r\nHost: a\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: a\r\n\r\nGET /_health HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await client.answer().status) }
        #expect(statuses == [200, 404, 200])
        await stage.stop()
    }

    static let malformed: [(String, [UInt8])] = [
        ("no request", Array("\u{0}\u{1}\u{2}\r\n\r\n".utf8)),
        ("TLS", [0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03, 0x0D, 0x0A, 0x0D, 0x0A]),
        ("no host", Array("GET /_health HTTP/1.1\r\n\r\n".utf8)),
        ("a target without end", Array("GET /".utf8) + [UInt8](repeating: 0x61, count: 200_000)),
        (
            "headers without end",
            Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [UInt8](repeating: 0x61, count: 200_000)
        ),
        (
            "many headers",
            Array("GET / HTTP/1.1\r\nHost: a\r\n".utf8)
                + (0..<10_000).flatMap { Array("X-\($0): y\r\n".utf8) } + Array("\r\n".utf8)
        ),
        (
            "two lengths",
            Array("POST /xrpc/a.b.c HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x".utf8)
        ),
        (
            "a length and chunks",
            Array(
                "POST /xrpc/a.b.c HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                    .utf8)
        ),
        ("a negative length", Array("POST /xrpc/a.b.c HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n".utf8)),
        (
            "a length beyond all numbers",
            Array("POST /xrpc/a.b.c HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n".utf8)
        ),
        (
            "a chunk beyond all numbers",
            Array(
                "POST /xrpc/a.b.c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n"
                    .utf8)
        ),
        ("a path that is no text", Array("GET /".utf8) + [0xFF, 0xFE] + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8)),
        ("escapes that are none", Array("GET /%zz%00%ff HTTP/1.1\r\nHost: a\r\n\r\n".utf8)),
        ("a version of the future", Array("GET / HTTP/9.9\r\nHost: a\r\n\r\n".utf8)),
    ]

    @Test(arguments: malformed)
    func malformedRequestsAreRefused(name: String, bytes: [UInt8]) async throws {
        let stage = try PushStage {
            $0.limits.transferTimeout = .milliseconds(500)
            $0.limits.idleTimeout = .milliseconds(500)
        }
        let client = try WireClient(port: stage.server.port)
        try await client.send(bytes)
        // Refused by libmicrohttpd or by the router, or cut off.
        if let answer = try? await client.answer() { #expect(400...505 ~= answer.status, "\(name)") }
        #expect(try await answersOthers(stage), "\(name)")
        await stage.stop()
    }

    @Test func bodiesThatAreNotUTF8() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let method = "social.hatk.push.registerToken"
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
            let body = Array(#"{"token":"aabb","platform":"apns","label":""#.utf8) + bytes + Array(#""}"#.utf8)
            let answer = try await WireClient.ask(
                stage.server.port, "POST", "/xrpc/\(method)",
                headers: ["Authorization": "Bearer \(try ada.token(method))", "Content-Type": "application/json"],
                body: body)
            #expect(answer.status == 400)
            #expect(answer.error == "InvalidRequest")
        }
        #expect(try stage.tokens().isEmpty)
        await stage.stop()
    }

    /// Real requests with a few bytes changed, from a seed.
    @Test func mutatedRequests() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let method = "social.hatk.push.registerToken"
        let body = #"{"token":"aabb","platform":"apns"}"#
        let whole = Array(
            """
            POST /xrpc/\(method) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(try ada.token(method))\r\n\
            Content-Type: application/json\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8)
        var random = SplitMix(state: 4)
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let client = try WireClient(port: stage.server.port, timeout: 1)
            try await client.send(Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random))))
        }
        #expect(try await answersOthers(stage))
        await stage.stop()
    }
}

/// Random numbers that are the same each time. Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
