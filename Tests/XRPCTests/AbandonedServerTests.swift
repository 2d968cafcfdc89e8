import Synchronization
import Testing

@testable import XRPC

@Suite struct AbandonedServerTests {
    /// Owns a server as `PushServer` does.
    private final class Owner: Sendable {
        let server: HTTPServer
        let ended: Events

        init(_ ended: Events, handler: @escaping HTTPServer.Handler) throws {
            self.ended = ended
            server = try HTTPServer(
                listen: "127.0.0.1:0", refusals: { HTTPResponse(status: $0.status) }, handler: handler)
        }

        deinit {
            server.abandon()
            ended.continuation.yield()
        }
    }

    private typealias Events = (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    private final class Box: Sendable {
        let owner = Mutex<Owner?>(nil)
    }

    /// The last reference goes on a thread of the server's own, which cannot wait for itself.
    @Test func aServerMayBeDroppedByItsOwnHandler() async throws {
        let ended: Events = AsyncStream.makeStream(of: Void.self)
        let box = Box()
        let port = try box.owner.withLock { owner in
            let made = try Owner(ended) { _ in
                let last = box.owner.withLock { $0.take() }
                _ = consume last
                return .now(HTTPResponse(status: 200))
            }
            owner = made
            return made.server.port
        }
        // Whether it is still answered depends on how soon the server ends.
        _ = try? await WireClient.ask(port, "GET", "/")
        for await _ in ended.stream { break }
        #expect(box.owner.withLock { $0 == nil })
    }
}
