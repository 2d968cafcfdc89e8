import Glibc

/// One attempt to reach a host: a fresh look-up, then its addresses one after the other, each begun when the one before
/// has failed or has kept us waiting for a quarter of a second; the first to answer wins (after RFC 8305).
///
/// Confined to its loop. The deadline is the caller's: `cancel()` when it passes. Sendable, so that the resolver's thread
/// can carry it back to the loop.
final class Dialer: SocketHandler, @unchecked Sendable {
    static let nextAddressAfter = Duration.milliseconds(250)

    private let endpoint: Endpoint
    private let loop: EventLoop
    /// Called once, unless cancelled, with a connected socket that now is the caller's.
    private var completion: ((Result<Int32, any Error>) -> Void)?
    private var waiting: ArraySlice<SocketAddress> = []
    private var attempts: [Int32] = []
    private var nextAttempt: EventLoop.Timer?
    private var lastReason = "no address"

    init(_ endpoint: Endpoint, on loop: EventLoop, completion: @escaping (Result<Int32, any Error>) -> Void) {
        self.endpoint = endpoint
        self.loop = loop
        self.completion = completion
    }

    func start() {
        Resolver.resolve(endpoint, on: loop) { [self] result in
            guard completion != nil else { return }
            switch result {
            case .success(let addresses): begin(addresses)
            case .failure(let error): finish(.failure(error))
            }
        }
    }

    /// For tests, and for `start()` once the addresses are known.
    func begin(_ addresses: [SocketAddress]) {
        waiting = addresses[...]
        tryNext()
    }

    /// Gives up; nothing will be called any more.
    func cancel() {
        completion = nil
        waiting = []
        nextAttempt?.cancel()
        for descriptor in attempts { drop(descriptor) }
        attempts = []
    }

    func ready(_: Readiness) {
        // Which of the few attempts it was is quickly asked.
        for descriptor in attempts {
            var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&state, 1, 0) > 0 else { continue }
            let code = Socket.pendingError(descriptor)
            if code == 0 { return finish(.success(descriptor)) }
            attempts.removeAll { $0 == descriptor }
            drop(descriptor)
            lastReason = SystemError.text(code)
            tryNext()
            if completion == nil { return }
        }
    }

    private func tryNext() {
        nextAttempt?.cancel()
        while let address = waiting.popFirst() {
            do {
                guard try connect(to: address) else { continue }
                if !waiting.isEmpty {
                    nextAttempt = loop.schedule(after: Dialer.nextAddressAfter) { [weak self] in self?.tryNext() }
                }
                return
            } catch {
                lastReason = "\(error)"
            }
        }
        if attempts.isEmpty { finish(.failure(ConnectionError.unreachable(endpoint, reason: lastReason))) }
    }

    /// True when the attempt is under way.
    private func connect(to address: SocketAddress) throws -> Bool {
        let descriptor = try Socket.make(family: address.family)
        let (result, code) = address.withSockaddr { address, length in
            let result = Glibc.connect(descriptor, address, length)
            return (result, errno)
        }
        // An interrupted attempt goes on in the background, like one that was begun.
        guard result == 0 || code == EINPROGRESS || code == EINTR else {
            Glibc.close(descriptor)
            lastReason = SystemError.text(code)
            return false
        }
        do {
            try loop.worker.watch(descriptor, for: .writable, self)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        attempts.append(descriptor)
        return true
    }

    private func finish(_ result: Result<Int32, any Error>) {
        guard let completion else { return }
        if case .success(let descriptor) = result {
            attempts.removeAll { $0 == descriptor }
            loop.worker.unwatch(descriptor)
        }
        cancel()
        completion(result)
    }

    private func drop(_ descriptor: Int32) {
        loop.worker.unwatch(descriptor)
        Glibc.close(descriptor)
    }
}
