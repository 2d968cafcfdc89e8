import Synchronization
import TestSupport
import Testing

@testable import XRPC

@Suite(.fewAtATime) struct HTTPServerTests {
    private final class Holder: Sendable {
        let server = Mutex<HTTPServer?>(nil)
    }

    /// The threads of the server then hold the last references to what it needs.
    @Test func mayBeLetGoByItsOwnHandler() async throws {
        let holder = Holder()
        func start() throws -> UInt16 {
            let server = try HTTPServer(listen: "127.0.0.1:0", refusals: { HTTPResponse(status: $0.status) }) { _ in
                holder.server.withLock { $0 = nil }
                return .now(HTTPResponse(status: 200))
            }
            holder.server.withLock { $0 = server }
            return server.port
        }
        for _ in 0..<10 {
            let port = try start()
            _ = try? await WireClient.ask(port, "GET", "/")
            #expect(holder.server.withLock { $0 == nil })
        }
    }

    @Test func endsByItselfWhenLetGo() async throws {
        var server: HTTPServer? = try HTTPServer(
            listen: "127.0.0.1:0", refusals: { HTTPResponse(status: $0.status) },
            handler: { _ in .now(HTTPResponse(status: 200)) })
        let port = try #require(server?.port)
        #expect(try await WireClient.ask(port, "GET", "/").status == 200)
        server = nil
        while (try? await WireClient.ask(port, "GET", "/")) != nil { await Task.yield() }
    }
}
