import CLinux
import Dispatch
import Glibc

/// Takes the connections that come to a listening socket, on a queue of its own, until it is closed. Thread-safe.
final class Acceptor: @unchecked Sendable {
    // Sources and groups of Dispatch are thread-safe, but not declared so.
    private let source: any DispatchSourceRead
    private let queue = DispatchQueue(label: "http-accept")
    /// Left once the socket is closed.
    private let closing = DispatchGroup()
    private let descriptor: Int32
    private let take: @Sendable (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool

    /// - Parameter take: gets each new socket, which is its own from then on, and the client's address; returns false
    ///   when the next one must wait for a moment.
    init(_ socket: ListeningSocket, take: @escaping @Sendable (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool) {
        descriptor = socket.descriptor
        self.take = take
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        closing.enter()
        // Each keeps this object until the socket is closed.
        source.setEventHandler { self.takeAll() }
        source.setCancelHandler {
            Glibc.close(self.descriptor)
            self.closing.leave()
        }
        source.resume()
    }

    /// Closes the socket, so that further clients are refused at once. Calls `then` on another thread when that is done
    /// and nothing is being taken any more. May be called again.
    func close(then: @escaping @Sendable () -> Void) {
        source.cancel()
        closing.notify(queue: .global(), execute: then)
    }

    private func takeAll() {
        var storage = sockaddr_storage()
        withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                while !source.isCancelled, takeNext(address) {}
            }
        }
    }

    /// False when nobody waits any more, or nobody can be taken.
    private func takeNext(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let client = accept4(descriptor, address, &length, flags)
        if client >= 0 {
            let mayGoOn = take(client, address, length)
            if !mayGoOn { pause(milliseconds: 2) }
            return mayGoOn
        }
        switch errno {
        // The client has gone again, or a signal came.
        case ECONNABORTED, EINTR, EPROTO: return true
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            // Those who wait may be taken when others have gone.
            pause(milliseconds: 50)
            return false
        default: return false
        }
    }

    private func pause(milliseconds: Int) {
        source.suspend()
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { self.source.resume() }
    }
}
