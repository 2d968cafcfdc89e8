import Glibc
import Synchronization

/// The open connections, and how long each has been doing what it does. Thread-safe.
///
/// libmicrohttpd's own time limit counts from the last byte, so that a byte now and then keeps a connection for ever;
/// and at its limit of connections it takes no new ones. So both are kept here. A connection is ended by shutting its
/// socket down, which libmicrohttpd notices; the table's lock keeps the descriptor from being closed meanwhile.
final class ConnectionTable: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: HTTPConnection] = [:]
        /// By descriptor: those that libmicrohttpd has not begun with yet.
        var newcomers: [Int32: HTTPConnection] = [:]
        /// Of those that have not been told to go.
        var counts: [ClientAddress: Int] = [:]
        var count = 0
        var isClosing = false
    }

    private let limits: HTTPLimits
    private let state = Mutex(State())

    init(_ limits: HTTPLimits) { self.limits = limits }

    var count: Int { state.withLock { $0.connections.count } }

    /// Takes a new connection, and lets others go where there are too many. In the order in which they were accepted:
    /// libmicrohttpd's threads may begin with them in another.
    func add(_ connection: HTTPConnection) {
        state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            state.newcomers[connection.descriptor] = connection
            state.counts[connection.address, default: 0] += 1
            state.count += 1
            if state.isClosing { Self.end(connection, &state) }
            if state.counts[connection.address, default: 0] > limits.maximumConnectionsPerAddress {
                makeRoom(for: connection, among: { $0.address == connection.address }, &state)
            }
            if state.count > limits.maximumConnections { makeRoom(for: connection, among: { _ in true }, &state) }
        }
    }

    /// True when many that were told to go have not gone yet: further clients must wait then.
    var isCrowded: Bool { count > Self.most(limits) }

    /// Connections at a time, those included that are on their way out.
    static func most(_ limits: HTTPLimits) -> Int { limits.maximumConnections + limits.maximumConnections / 8 + 64 }

    /// The connection that libmicrohttpd begins with.
    func begin(descriptor: Int32) -> HTTPConnection? {
        state.withLock { $0.newcomers.removeValue(forKey: descriptor) }
    }

    /// The connection's socket is about to be closed.
    func remove(_ connection: HTTPConnection) {
        state.withLock { state in
            Self.end(connection, &state)
            if state.newcomers[connection.descriptor] === connection { state.newcomers[connection.descriptor] = nil }
            state.connections[ObjectIdentifier(connection)] = nil
        }
    }

    /// Ends a batch of the connections that have been idle longest, or else of those that are slowest to ask; the
    /// newcomer when all others are being served.
    private func makeRoom(
        for newcomer: HTTPConnection, among isCandidate: (HTTPConnection) -> Bool, _ state: inout State
    ) {
        let candidates = state.connections.values.filter { $0 !== newcomer && !$0.isEnded && isCandidate($0) }
        for phase in [HTTPConnection.Phase.awaiting, .receiving] {
            let waiting = candidates.compactMap { connection in
                let (present, since) = connection.phase
                return present == phase ? (connection, since) : nil
            }
            guard !waiting.isEmpty else { continue }
            // A batch, so that the search is not made for each newcomer.
            for (connection, _) in waiting.sorted(by: { $0.1 < $1.1 }).prefix(1 + candidates.count / 64) {
                Self.end(connection, &state)
            }
            return
        }
        Self.end(newcomer, &state)
    }

    /// Once for each connection: its place is free, though its socket may be open yet.
    private static func end(_ connection: HTTPConnection, _ state: inout State) {
        guard connection.end() else { return }
        state.count -= 1
        let left = state.counts[connection.address, default: 1] - 1
        state.counts[connection.address] = left > 0 ? left : nil
    }

    /// Ends what has taken too long; to be called now and then.
    func sweep(now: ContinuousClock.Instant) {
        let late = state.withLock { state in
            var late: [HTTPExchange] = []
            for connection in state.connections.values where !connection.isEnded {
                let (phase, since) = connection.phase
                let age = since.duration(to: now)
                switch phase {
                case .awaiting: if age > limits.idleTimeout { Self.end(connection, &state) }
                case .receiving, .sending: if age > limits.transferTimeout { Self.end(connection, &state) }
                case .handling:
                    if age > limits.handlerTimeout, let exchange = connection.exchange { late.append(exchange) }
                }
            }
            return late
        }
        for exchange in late { exchange.giveUp(.tooSlow) }
    }

    /// No request is begun any more: idle connections go, and so do new ones.
    func close() {
        state.withLock { state in
            state.isClosing = true
            for connection in state.connections.values where connection.phase.phase == .awaiting {
                Self.end(connection, &state)
            }
        }
    }

    /// Answers that are still being found or taken.
    var busyCount: Int {
        state.withLock { state in
            state.connections.values.count {
                !$0.isEnded && ($0.phase.phase == .handling || $0.phase.phase == .sending)
            }
        }
    }

    /// The requests whose answers are still being found.
    var exchanges: [HTTPExchange] { state.withLock { $0.connections.values.compactMap(\.exchange) } }
}

/// One connection, as long as libmicrohttpd keeps it.
final class HTTPConnection: Sendable {
    enum Phase: Sendable {
        /// Between requests.
        case awaiting
        /// A request has begun to arrive.
        case receiving
        /// The answer is being found.
        case handling
        /// The answer is on its way.
        case sending
    }

    private struct State {
        var phase = Phase.awaiting
        var since = ContinuousClock.now
        var exchange: HTTPExchange?
        var isEnded = false
    }

    let address: ClientAddress
    let descriptor: Int32
    private let state = Mutex(State())

    init(address: ClientAddress, descriptor: Int32) {
        self.address = address
        self.descriptor = descriptor
    }

    var phase: (phase: Phase, since: ContinuousClock.Instant) { state.withLock { ($0.phase, $0.since) } }
    /// The request whose answer is being found.
    var exchange: HTTPExchange? { state.withLock { $0.exchange } }
    var isEnded: Bool { state.withLock { $0.isEnded } }

    func enter(_ phase: Phase, exchange: HTTPExchange? = nil) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.phase = phase
            state.since = now
            state.exchange = exchange
        }
    }

    /// Shuts the socket down; false when that was done before. Under the table's lock.
    fileprivate func end() -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { shutdown(descriptor, Int32(SHUT_RDWR)) }
        return isFirst
    }
}
