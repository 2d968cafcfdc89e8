/// One client's connection at the server. Confined to the loop.
///
/// Sendable so that its reference may travel, into a delayed answer for one; every method asserts that it is on the loop.
public final class HTTP2ServerConnection: @unchecked Sendable {
    private let server: HTTP2Server
    private let loop: EventLoop
    private let session: HTTP2ServerSession
    private var transport: Transport?
    private var output = ByteBuffer(capacity: HTTP2.gatherLimit + 32 * 1024)
    private var isTurnEndDue = false
    private var isFrozen = false
    private var handshakeTimer: EventLoop.Timer?

    init(_ descriptor: Int32, of server: HTTP2Server, tls: TLSContext?, on loop: EventLoop) throws {
        self.server = server
        self.loop = loop
        session = try HTTP2ServerSession(server.options)
        let engine = try tls.map { try TLSEngine(server: $0) }
        transport = Transport(descriptor, tls: engine, on: loop, owner: self)
    }

    func start() {
        loop.worker.enter(self)
        if server.options.greeting == .silent {
            freeze()
        } else {
            handshakeTimer = loop.schedule(after: server.options.handshakeTimeout) { [weak self] in self?.abort() }
        }
        transport?.start()
    }

    /// True until the connection has ended on either side.
    public var isOpen: Bool { transport != nil }

    /// How many RST_STREAM frames the client has sent.
    public var resetsReceived: Int { session.resetsReceived }

    /// Answers a request: headers alone when `body` is empty, else as many DATA frames as it takes with `dataFrameSize`
    /// bytes each at most. Does nothing when the client has taken the request back.
    public func respond(
        stream: Int32, status: Int, headers: [HeaderField], body: [UInt8], dataFrameSize: Int = .max
    ) {
        act { $0.respond(stream, status: status, headers: headers, body: body, dataFrameSize: dataFrameSize) }
    }

    /// Ends a stream with RST_STREAM.
    public func reset(stream: Int32, errorCode: UInt32) { act { $0.reset(stream, errorCode: errorCode) } }

    /// Says GOAWAY: streams above `lastStream` end, later ones are ignored, and the socket stays open. Later calls may only
    /// lower `lastStream`.
    public func goAway(lastStream: Int32, errorCode: UInt32, debug: [UInt8]) {
        act { $0.goAway(lastStream: lastStream, errorCode: errorCode, debug: debug) }
    }

    public func setMaxConcurrentStreams(_ count: UInt32) { act { $0.setMaxConcurrentStreams(count) } }

    /// Lets the client send `count` bytes more: on a stream, or with stream 0 on the connection.
    public func openWindow(stream: Int32, by count: Int32) { act { $0.openWindow(stream: stream, by: count) } }

    /// From now on reads and writes nothing, and leaves the socket open: a machine that lost its power.
    public func freeze() {
        assert(loop.isCurrent)
        isFrozen = true
        handshakeTimer?.cancel()
        transport?.stopReading()
    }

    /// Drops the socket without a word.
    public func abort() {
        assert(loop.isCurrent)
        transport?.abort()
        ended(nil)
    }

    /// Says GOAWAY and closes.
    public func close() {
        assert(loop.isCurrent)
        if let transport, transport.isOpen, !isFrozen {
            session.goAway(lastStream: session.lastStream, errorCode: HTTP2.noError, debug: [])
            pump()
        }
        transport?.close()
        ended(nil)
    }

    private func act(_ body: (HTTP2ServerSession) -> Void) {
        assert(loop.isCurrent)
        guard isOpen else { return }
        body(session)
        needTurnEnd()
    }

    private func needTurnEnd() {
        guard !isTurnEndDue else { return }
        isTurnEndDue = true
        loop.worker.needsTurnEnd(self)
    }

    private func handOutRequests() {
        while !session.arrived.isEmpty {
            let arrived = session.arrived
            session.arrived.removeAll(keepingCapacity: true)
            for id in arrived where isOpen {
                guard let request = session.takeRequest(id) else { continue }
                if request.isTooLarge {
                    session.respond(id, status: 413, headers: [], body: [], dataFrameSize: .max)
                } else {
                    server.handler?.server(self, stream: id, headers: request.headers, body: request.body)
                }
            }
        }
    }

    private func pump() {
        guard let transport, transport.isOpen, !isFrozen else { return }
        do {
            var more = true
            while more, !transport.isBlocked, !transport.isClosed {
                more = try session.gather(into: &output)
                if output.isEmpty { break }
                transport.write(output.bytes)
                output.removeAll()
            }
            if let violation = session.violation { throw ConnectionError.protocolViolation(violation) }
        } catch {
            transport.close()
            ended(error)
        }
    }

    private func ended(_ error: (any Error)?) {
        guard isOpen else { return }
        transport = nil
        handshakeTimer?.cancel()
        loop.worker.leave(self)
        server.connectionEnded(self, error)
    }
}

extension HTTP2ServerConnection: LoopResident {
    func turnEnds() {
        isTurnEndDue = false
        handOutRequests()
        pump()
    }

    func loopStops() {
        transport?.close()
        ended(ConnectionError.loopStopped)
    }
}

extension HTTP2ServerConnection: TransportOwner {
    func transportOpened() {
        handshakeTimer?.cancel()
        server.handler?.serverConnected(self)
        needTurnEnd()
    }

    func transportReceived(_ bytes: UnsafeRawBufferPointer) {
        guard isOpen else { return }
        do {
            try session.receive(bytes)
            needTurnEnd()
        } catch {
            transport?.close()
            ended(error)
        }
    }

    func transportDrained() { needTurnEnd() }

    func transportFailed(_ error: any Error) {
        ended(error)
    }
}
