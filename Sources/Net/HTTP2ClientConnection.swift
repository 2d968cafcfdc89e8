/// Called on the connection's loop.
public protocol HTTP2ClientDelegate: AnyObject {
    /// TLS and SETTINGS are done; requests may be sent.
    func connectionOpened(_ connection: HTTP2ClientConnection)
    /// The peer's MAX_CONCURRENT_STREAMS or the number of open streams changed: more requests may fit, or none any more.
    /// Called behind the results of the streams that have ended.
    func connectionRoomChanged(_ connection: HTTP2ClientConnection)
    /// No new streams on this connection; those in flight may still be answered. Called once at most, before the results
    /// of streams that the GOAWAY ended. The connection closes itself when the last stream has its result.
    func connection(_ connection: HTTP2ClientConnection, goingAway errorCode: UInt32, debug: [UInt8])
    /// The end: after every stream's result. `error` is nil after `close()`, and when a peer that said GOAWAY without an
    /// error has answered every stream.
    func connectionClosed(_ connection: HTTP2ClientConnection, error: (any Error)?)
}

/// One HTTP/2 connection over TLS (RFC 9113), for requests with bodies that are there whole.
///
/// Confined to its loop, apart from its `init`. It keeps itself and its delegate alive until `connectionClosed`.
///
/// Sendable so that its reference may travel to the loop; every method asserts that it is called there.
public final class HTTP2ClientConnection: @unchecked Sendable {
    public static let maximumBody = 64 * 1024

    public struct Options: Sendable {
        /// Resolving the name and reaching one of its addresses.
        public var connectTimeout: Duration = .seconds(10)
        /// TLS handshake and the peer's first SETTINGS.
        public var handshakeTimeout: Duration = .seconds(10)
        /// A PING goes out when nothing was read for this long …
        public var pingAfterIdleRead: Duration = .seconds(30)
        /// … and the connection is dropped when its answer does not come within this.
        public var pingTimeout: Duration = .seconds(10)
        /// Streams open at once, whatever the peer allows.
        public var maximumStreams = 10_000
        /// Whether answers with status 200 have their fields.
        public var keepsFieldsOfSuccess = true
        /// No stream beyond this id: the connection then counts as going away (ids end at 2³¹ − 1).
        public var lastStreamID: Int32 = 0x7FFF_0000
        public init() {}
    }

    private enum State {
        case connecting, handshaking, open
        /// `close()` was called: open streams may still be answered.
        case closing
        case closed
    }

    public let endpoint: Endpoint
    private let loop: EventLoop
    private let tls: TLSContext?
    private let options: Options
    private var delegate: (any HTTP2ClientDelegate)?

    private var state = State.connecting
    private var dialer: Dialer?
    private var transport: Transport?
    private var session: HTTP2ClientSession?
    private var output = ByteBuffer(capacity: HTTP2.gatherLimit + 32 * 1024)
    /// The first stream of the last write, and how much the socket had taken before it.
    private var lastWrite = (firstStream: Int32.max, sentBefore: 0)

    private var isTurnEndDue = false
    private var hasOpened = false
    private var hasSaidGoingAway = false
    /// Set once the connection is gone; the delegate hears of it at the turn's end.
    private var end: (error: (any Error)?, isReported: Bool)?
    /// Results of requests made before there was a session, or after it.
    private var refused: [any HTTP2Requester] = []

    private var phaseTimer: EventLoop.Timer?
    private var requestTimer: EventLoop.Timer?
    private var pingTimer: EventLoop.Timer?
    private var lastRead = MonotonicTime.now

    /// Starts to connect: resolves afresh, tries every address. Any thread.
    ///
    /// Without `tls` it speaks HTTP/2 in the clear, with prior knowledge.
    public init(
        to endpoint: Endpoint, tls: TLSContext?, on loop: EventLoop, options: Options = Options(),
        delegate: any HTTP2ClientDelegate
    ) {
        self.endpoint = endpoint
        self.loop = loop
        self.tls = tls
        self.options = options
        self.delegate = delegate
        loop.execute { self.connect() }
    }

    /// How many more requests fit now: 0 before opening, after GOAWAY and after `close()`.
    public var room: Int {
        assert(loop.isCurrent)
        return state == .open ? session?.room ?? 0 : 0
    }

    /// Requests that hold a stream of the peer's limit.
    public var openStreams: Int {
        assert(loop.isCurrent)
        return session?.openStreams ?? 0
    }

    /// Sends a request. `headers` holds the pseudo-headers first. Needs `room > 0`, else it completes with `.notProcessed`.
    /// `completion` is called on the loop exactly once, never inside `request`.
    public func request(
        headers: [HeaderField], body: [UInt8], timeout: Duration,
        completion: @escaping (Result<HTTP2Response, StreamFailure>) -> Void
    ) {
        request(.fields(headers), body, timeout, CompletionRequester(completion)) { _ in }
    }

    /// The same with headers that were laid out once: cheaper when many requests differ in little, which `own` writes.
    /// - Parameter requester: has the result on the loop exactly once, never inside `request`.
    public func request(
        prepared: PreparedHeaders, body: [UInt8], timeout: Duration, requester: any HTTP2Requester,
        own: (inout FieldLiterals) -> Void
    ) {
        request(.prepared(prepared), body, timeout, requester, own)
    }

    /// Takes no new requests, waits for open streams up to `deadline`, says GOAWAY and closes. Does nothing the second time,
    /// but for a shorter deadline.
    public func close(deadline: Duration = .zero) {
        assert(loop.isCurrent)
        guard state != .closed else { return }
        let wasOpen = state == .open || state == .closing
        state = .closing
        guard wasOpen, let session, session.openStreams > 0, deadline > .zero else { return finish(nil) }
        setPhase(deadline) { $0.finish(nil) }
    }

    // MARK: Setting up

    private func connect() {
        // It may have been closed already.
        guard state == .connecting else { return }
        loop.worker.enter(self)
        setPhase(options.connectTimeout) { $0.finish(ConnectionError.timedOut(.connecting)) }
        let dialer = Dialer(endpoint, on: loop) { [unowned self] result in
            switch result {
            case .success(let descriptor): connected(descriptor)
            case .failure(let error): finish(error)
            }
        }
        self.dialer = dialer
        dialer.start()
    }

    private func connected(_ descriptor: Int32) {
        dialer = nil
        state = .handshaking
        setPhase(options.handshakeTimeout) { $0.finish(ConnectionError.timedOut(.handshake)) }
        do {
            let engine = try tls.map { try TLSEngine(client: $0, host: endpoint.host) }
            session = try HTTP2ClientSession(
                streamLimit: options.maximumStreams, lastStreamID: options.lastStreamID,
                keepsFieldsOfSuccess: options.keepsFieldsOfSuccess)
            let transport = Transport(descriptor, tls: engine, on: loop, owner: self)
            self.transport = transport
            transport.start()
        } catch {
            finish(error)
        }
    }

    private func opened() {
        hasOpened = true
        state = .open
        phaseTimer?.cancel()
        schedulePing()
        delegate?.connectionOpened(self)
    }

    /// Replaces the deadline of the phase before.
    private func setPhase(_ timeout: Duration, _ whenPassed: @escaping @Sendable (HTTP2ClientConnection) -> Void) {
        phaseTimer?.cancel()
        phaseTimer = loop.schedule(after: timeout) { [self] in whenPassed(self) }
    }

    // MARK: Requests

    private func request(
        _ headers: ClientStream.Headers, _ body: [UInt8], _ timeout: Duration, _ requester: any HTTP2Requester,
        _ own: (inout FieldLiterals) -> Void
    ) {
        assert(loop.isCurrent)
        needTurnEnd()
        guard state == .open, let session else { return refused.append(requester) }
        let deadline = loop.worker.turnBegan + timeout.nanoseconds
        session.request(headers, body: body, deadline: deadline, requester: requester, own: own)
        if let requestTimer, requestTimer.deadline <= deadline { return }
        scheduleExpiry(deadline)
    }

    /// One timer a connection: it looks again when it fires, so that a request costs no timer of its own.
    private func scheduleExpiry(_ deadline: MonotonicTime) {
        requestTimer?.cancel()
        let delay = Duration.nanoseconds(max(0, deadline - MonotonicTime.now))
        requestTimer = loop.schedule(after: delay) { [self] in expire() }
    }

    private func expire() {
        requestTimer = nil
        guard let session, state != .closed else { return }
        session.expire(MonotonicTime.now)
        if let next = session.nextDeadline { scheduleExpiry(next) }
        needTurnEnd()
    }

    // MARK: PING

    private func schedulePing() {
        let due = lastRead + options.pingAfterIdleRead.nanoseconds
        let delay = Duration.nanoseconds(max(0, due - MonotonicTime.now))
        pingTimer = loop.schedule(after: delay) { [self] in pingIfIdle() }
    }

    private func pingIfIdle() {
        guard state == .open || state == .closing, let session else { return }
        guard lastRead + options.pingAfterIdleRead.nanoseconds <= MonotonicTime.now else { return schedulePing() }
        session.ping()
        needTurnEnd()
        pingTimer = loop.schedule(after: options.pingTimeout) { [self] in expectPong() }
    }

    private func expectPong() {
        guard state == .open || state == .closing, let session else { return }
        if session.isPinging { finish(ConnectionError.timedOut(.ping)) } else { schedulePing() }
    }

    // MARK: The end of a turn

    private func needTurnEnd() {
        guard !isTurnEndDue else { return }
        isTurnEndDue = true
        loop.worker.needsTurnEnd(self)
    }

    private func tellGoingAway(_ session: HTTP2ClientSession) {
        guard session.isClosedToRequests, !hasSaidGoingAway else { return }
        hasSaidGoingAway = true
        let goAway = session.goAway
        delegate?.connection(self, goingAway: goAway?.errorCode ?? HTTP2.noError, debug: goAway?.debug ?? [])
    }

    private func handOutResults(_ session: HTTP2ClientSession?) {
        if let session, !session.finished.isEmpty {
            var finished: [HTTP2ClientSession.Finished] = []
            swap(&finished, &session.finished)
            for request in finished { request.requester.requestEnded(request.result) }
            // Keeps the memory, unless they have made new results meanwhile.
            finished.removeAll(keepingCapacity: true)
            if session.finished.isEmpty { swap(&finished, &session.finished) } else { needTurnEnd() }
        }
        let refused = refused
        self.refused = []
        for requester in refused { requester.requestEnded(.failure(.notProcessed)) }
    }

    /// Writes what there is to write, as long as the socket takes it.
    private func pump(_ session: HTTP2ClientSession) {
        guard let transport, transport.isOpen else { return }
        do {
            var more = true
            while more, !transport.isBlocked, !transport.isClosed {
                var firstStream: Int32 = 0
                more = try session.gather(into: &output, firstStream: &firstStream)
                if output.isEmpty { break }
                lastWrite = (firstStream, transport.sentBytes)
                transport.write(output.bytes)
                output.removeAll()
            }
        } catch {
            finish(error)
        }
    }

    private func closeIfDone(_ session: HTTP2ClientSession) {
        if let violation = session.violation {
            finish(ConnectionError.protocolViolation(violation))
        } else if state == .closing, session.openStreams == 0 {
            finish(nil)
        } else if session.isClosedToRequests, session.openStreams == 0, session.finished.isEmpty {
            let error = session.goAway.flatMap(HTTP2ClientConnection.error(from:))
            finish(error ?? (hasOpened ? nil : ConnectionError.closedByPeer))
        } else if session.isOver {
            finish(ConnectionError.closedByPeer)
        }
    }

    /// The error that a GOAWAY speaks of; nil for a peaceful one.
    private static func error(from goAway: HTTP2ClientSession.GoAway) -> ConnectionError? {
        guard goAway.errorCode != HTTP2.noError else { return nil }
        return .goAway(errorCode: goAway.errorCode, debug: String(decoding: goAway.debug, as: UTF8.self))
    }

    // MARK: The end

    /// Closes, and gives every request without a result one. The delegate hears of all that at the turn's end.
    private func finish(_ error: (any Error)?) {
        guard state != .closed else { return }
        let isPeaceful = error == nil
        state = .closed
        for timer in [phaseTimer, requestTimer, pingTimer] { timer?.cancel() }
        dialer?.cancel()
        dialer = nil
        if let session {
            if isPeaceful, hasOpened { sayGoodbye(session) }
            let untouched = transport.map { $0.sentBytes == lastWrite.sentBefore } ?? true
            session.fail(
                error.map { "\($0)" } ?? "the connection was closed",
                firstUnsent: untouched ? lastWrite.firstStream : Int32.max)
        }
        transport?.close()
        end = (error, isReported: false)
        needTurnEnd()
    }

    private func sayGoodbye(_ session: HTTP2ClientSession) {
        guard let transport, !transport.isClosed, !transport.isBlocked else { return }
        session.sayGoodbye()
        var firstStream: Int32 = 0
        guard (try? session.gather(into: &output, firstStream: &firstStream)) != nil else { return }
        lastWrite = (firstStream, transport.sentBytes)
        transport.write(output.bytes)
        output.removeAll()
    }

    private func reportEnd() {
        guard let end, !end.isReported else { return }
        self.end?.isReported = true
        loop.worker.leave(self)
        let delegate = delegate
        self.delegate = nil
        delegate?.connectionClosed(self, error: end.error)
    }
}

extension HTTP2ClientConnection: LoopResident {
    func turnEnds() {
        isTurnEndDue = false
        // What ends during this turn's end is reported at the next one, behind the results that it brought.
        let wasClosed = state == .closed
        defer { if wasClosed { reportEnd() } }
        guard let session else { return handOutResults(nil) }
        if state == .handshaking, session.isOpened { opened() }
        tellGoingAway(session)
        handOutResults(session)
        if session.roomChanged {
            session.roomChanged = false
            delegate?.connectionRoomChanged(self)
        }
        if state != .closed { pump(session) }
        if state != .closed { closeIfDone(session) }
        // Writing may end streams, too: those taken back, and those that the peer would not have any more.
        if session.roomChanged || !session.finished.isEmpty { needTurnEnd() }
    }

    func loopStops() {
        finish(ConnectionError.loopStopped)
        handOutResults(session)
        reportEnd()
    }
}

extension HTTP2ClientConnection: TransportOwner {
    func transportOpened() { needTurnEnd() }

    func transportReceived(_ bytes: UnsafeRawBufferPointer) {
        lastRead = loop.worker.turnBegan
        guard let session, state != .closed else { return }
        do { try session.receive(bytes) } catch { finish(error) }
        needTurnEnd()
    }

    func transportDrained() { needTurnEnd() }

    func transportFailed(_ error: any Error) {
        let goAway = session?.goAway.flatMap(HTTP2ClientConnection.error(from:))
        finish(goAway ?? error)
    }
}
