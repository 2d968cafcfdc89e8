import TestSupport
import Testing

@testable import XRPC

/// What libmicrohttpd refuses by itself, before it is a request.
@Suite(.fewAtATime) struct UnreadableRequestTests {
    private static let long = String(repeating: "x", count: 70_000)

    @Test(arguments: [
        ("GET /_health HTTP/1.1\r\n\r\n", 400), ("GET /_health HTTP/9.9\r\nHost: a\r\n\r\n", 505),
        ("POST /_health HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n", 400),
        ("POST /_health HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
        ("POST /_health HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
        ("POST /_health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", 400),
        ("GET /_health HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", 431),
        ("GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    ])
    func isAnsweredOnceAndInJSON(request: String, status: Int) async throws {
        let stage = try PushStage()
        let client = try WireClient(port: stage.server.port)
        try await client.send(request)
        let answer = try await client.answer()
        #expect(answer.status == status, "\(answer.text)")
        #expect(answer.headers["content-type"] == "application/json")
        #expect(answer.error != nil && answer.json["message"] is String, "\(answer.text)")
        #expect(!answer.text.contains("HTTP/1.1 "), "the head comes once")
        #expect(try await client.isClosed())
        // Others are not concerned.
        #expect(try await WireClient.ask(stage.server.port, "GET", "/_health").status == 200)
        await stage.stop()
    }
}
