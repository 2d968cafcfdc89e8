import CLinux
import Glibc

@testable import Net

/// A TCP server that says what it is told to, whatever it hears, and may then hang up.
final class RawServer: SocketHandler, @unchecked Sendable {
    // Sendable: all that changes is touched on the loop.
    enum End {
        case hangUp, reset, stay
    }

    let loop: EventLoop
    let port: UInt16
    private let listener: Int32
    private let words: [UInt8]
    private let end: End
    private var clients: [Int32] = []

    init(says words: [UInt8], then end: End) throws {
        self.words = words
        self.end = end
        loop = try EventLoop(name: "raw")
        listener = try Socket.listening(on: Endpoint(host: "127.0.0.1", port: 0))
        port = try SocketAddress(boundTo: listener).port
        loop.execute { try? self.loop.worker.watch(self.listener, for: .readable, self) }
    }

    /// To be called in the end: the loop and the server hold each other.
    func stop() {
        loop.stop()
        for descriptor in clients + [listener] { close(descriptor) }
    }

    func ready(_: Readiness) {
        let client = accept4(listener, nil, nil, Int32(SOCK_NONBLOCK.rawValue))
        guard client >= 0 else { return }
        send(client, words, words.count, Int32(MSG_NOSIGNAL))
        switch end {
        case .stay: clients.append(client)
        case .hangUp:
            // What has come is read first, or the hang-up would be a reset.
            loop.schedule(after: .milliseconds(5)) {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while recv(client, &buffer, buffer.count, 0) > 0 {}
                close(client)
            }
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
            close(client)
        }
    }
}
