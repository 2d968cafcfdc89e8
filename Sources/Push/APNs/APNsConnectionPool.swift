import HookKit
import Net
import Storage

/// What a pool reports. Called on the loop.
protocol APNsPoolOwner: AnyObject {
    /// An answer that has nothing more to say about connections.
    func pool(_ pool: APNsConnectionPool, ended flight: Flight, _ outcome: APNsOutcome, reason: String)
    /// It was not sent, or not for good: the outbox is to offer it again at that time (milliseconds since 1970).
    func pool(_ pool: APNsConnectionPool, gaveBack flight: Flight, at time: Int64, reason: String)
    /// It may have been delivered, and has been sent as often as the policy allows.
    func pool(_ pool: APNsConnectionPool, lost flight: Flight, reason: String)
    func poolHeard(_ pool: APNsConnectionPool)
    func poolTroubled(_ pool: APNsConnectionPool)
}

/// The connections to one gateway with one key. Never changes its aim.
///
/// Opens connections on demand up to a cap, and keeps them for hours. A request waits in a queue while none has room.
/// When no connection can be had, everything that waits goes back to the outbox, and `downUntil` says when to try again.
///
/// What may be sent again:
/// - a stream that was surely not processed: at once, uncounted, some times;
/// - a stream lost with its connection, or unanswered in time: at once with the same `apns-id`, as often as `PushTuning` says.
///
/// Unchecked: confined to the loop's thread.
final class APNsConnectionPool: @unchecked Sendable {
    /// Refused so often without any answer between, a row waits in the outbox.
    private static let maximumRefusals = 8

    let environment: APNsEnvironment
    private let gateway: Endpoint
    private let tls: TLSContext
    private let loop: EventLoop
    private let tuning: PushTuning
    private let options: HTTP2ClientConnection.Options
    private let clock: any PushClock
    private let emit: Emit
    private let key: ProviderKey
    /// Outlives its pools; unsafe because every push asks for it.
    private unowned(unsafe) let owner: any APNsPoolOwner
    private let crash: CrashPoints?

    private var lanes: [APNsLane] = []
    private var queue = FlightQueue()
    private var request: APNsRequest
    /// Connections in a row that ended without any answer, and the time before which none is opened.
    private var failures = 0
    private var nextConnect: Int64 = 0
    /// How many pushes had succeeded on the last connection that lost streams, or did not answer in time; nil once others
    /// have done better.
    private var caution: Int?
    private var isPumping = false
    private var isClosed = false
    /// Counts requests, for the watchdog.
    private var dispatched = 0
    private var isWatched = false
    private var answers = 0

    init(
        _ environment: APNsEnvironment, gateway: Endpoint, tls: TLSContext, loop: EventLoop, key: ProviderKey,
        tuning: PushTuning, clock: any PushClock, emit: Emit, owner: any APNsPoolOwner,
        crash: CrashPoints?
    ) {
        self.environment = environment
        self.gateway = gateway
        self.tls = tls
        self.loop = loop
        self.key = key
        self.tuning = tuning
        self.clock = clock
        self.emit = emit
        self.owner = owner
        self.crash = crash
        request = APNsRequest(to: gateway)
        var options = tuning.connection
        options.keepsFieldsOfSuccess = false
        self.options = options
    }

    /// Connections, those included that are being opened.
    var connectionCount: Int { lanes.count }
    /// Requests that are under way.
    var streamCount: Int { lanes.reduce(0) { $0 + $1.state.inFlight } }

    /// When to try again, if nobody can be reached now.
    var downUntil: Int64? {
        guard nextConnect > 0, !lanes.contains(where: { $0.state.phase != .retiring }) else { return nil }
        return nextConnect > clock.now ? nextConnect : nil
    }

    /// Sends it with the next `pump`.
    func add(_ flight: Flight) {
        if isClosed {
            owner.pool(self, gaveBack: flight, at: clock.now, reason: "shutting down")
        } else if let downUntil {
            owner.poolTroubled(self)
            owner.pool(self, gaveBack: flight, at: downUntil, reason: "gateway out of reach")
        } else {
            queue.append(flight)
        }
    }

    /// Everything that waits goes back to the outbox.
    func giveBackQueue(at time: Int64, reason: String) {
        for flight in queue.removeAll() { owner.pool(self, gaveBack: flight, at: time, reason: reason) }
    }

    /// Takes out what waits and meets `condition`. It is the caller's again.
    func withdraw(where condition: (QueuedPush) -> Bool) -> [Flight] {
        queue.isEmpty ? [] : queue.removeAll { condition($0.push) }
    }

    /// New connections from now on, for a new key: Apple binds a connection to the team and key of its first push.
    func replaceConnections() {
        for lane in lanes { retire(lane) }
        (failures, nextConnect) = (0, 0)
        pump()
    }

    func close(deadline: Duration) {
        isClosed = true
        giveBackQueue(at: clock.now, reason: "shutting down")
        for lane in lanes {
            lane.state.retire()
            lane.connection?.close(deadline: deadline)
        }
    }
}

// MARK: Sending

extension APNsConnectionPool {
    /// Sends what waits, as far as connections have room, or opens one.
    func pump() {
        guard !isPumping, !isClosed, !queue.isEmpty else { return }
        isPumping = true
        defer { isPumping = false }
        let now = clock.now
        key.token.keepFresh(now: now)
        while !queue.isEmpty, let (lane, allowance) = emptiestLane(now) {
            for _ in 0..<allowance {
                guard let flight = queue.popFirst() else { break }
                send(flight, on: lane, now: now)
            }
        }
        if !queue.isEmpty {
            openLane(now)
            watch()
        }
    }

    /// The lane with the fewest streams among those with room, and how many it may take before the next look.
    private func emptiestLane(_ now: Int64) -> (APNsLane, Int)? {
        var best: (lane: APNsLane, allowance: Int)?
        for lane in lanes {
            let allowance = lane.state.allowance(room: lane.connection?.room ?? 0, now: now)
            guard allowance > 0 else { continue }
            if let best, best.lane.state.inFlight <= lane.state.inFlight { continue }
            best = (lane, allowance)
        }
        return best.map { ($0.lane, min($0.allowance, 32)) }
    }

    private func send(_ flight: Flight, on lane: APNsLane, now: Int64) {
        guard let connection = lane.connection else { return queue.append(flight) }
        flight.lane = lane
        flight.sentAt = now
        flight.generation = key.token.generation
        lane.state.sent()
        dispatched += 1
        connection.request(
            prepared: request.common(
                for: flight.push, topic: flight.topic, generation: flight.generation, token: key.token),
            body: flight.push.message.payload, timeout: tuning.requestTimeout, requester: flight
        ) {
            request.writeOwnFields(of: flight.push, to: &$0)
        }
        // What was asked for in this turn is written at its end.
        if let crash { loop.execute { crash.reach(.afterSendBeforeAnswer) } }
    }

    private func openLane(_ now: Int64) {
        let usable = lanes.lazy.filter { $0.state.phase != .retiring }
        guard usable.count < tuning.maximumConnections, lanes.count < 2 * tuning.maximumConnections,
            now >= nextConnect, !lanes.contains(where: \.state.isWarmingUp)
        else { return }
        let lane = APNsLane(self, caution: caution)
        lanes.append(lane)
        lane.connection = HTTP2ClientConnection(
            to: gateway, tls: tls, on: loop, options: options, delegate: self)
    }

    /// Looks after a while whether anything moves: a peer that allows no streams must not keep rows for ever.
    private func watch() {
        guard !isWatched else { return }
        isWatched = true
        let seen = dispatched
        clock.schedule(on: loop, after: tuning.stallTimeout.wholeMilliseconds) { [self] in check(seen) }
    }

    private func check(_ seen: Int) {
        isWatched = false
        guard !queue.isEmpty else { return }
        guard dispatched == seen else { return watch() }
        owner.poolTroubled(self)
        let time = clock.now + tuning.backoff.delay(attempts: 5)
        giveBackQueue(at: time, reason: "no stream to be had")
        for lane in lanes where lane.state.inFlight == 0 && lane.state.phase == .open { retire(lane) }
    }
}

// MARK: Answers

extension APNsConnectionPool {
    func ended(_ flight: Flight, on lane: APNsLane, _ result: Result<HTTP2Response, StreamFailure>) {
        switch result {
        case .success(let response) where response.status == 200:
            // The connection says that its room has changed when it has given out all results.
            return succeeded(flight, on: lane)
        case .success(let response) where response.isWhole:
            answered(flight, on: lane, response)
        case .success(let response):
            cutOff(flight, on: lane, status: response.status)
        case .failure(.notProcessed): refused(flight, on: lane)
        case .failure(.ambiguous):
            lane.state.failed()
            lane.ambiguous += 1
            caution = lane.state.successes
            flight.losses += 1
            resend(flight, within: flight.losses <= tuning.resendsAfterLoss, "lost in flight")
        case .failure(.timedOut):
            lane.state.timedOut()
            // A peer that is only slow must not get as much at once again.
            caution = lane.state.successes
            flight.timeouts += 1
            resend(flight, within: flight.timeouts <= tuning.resendsAfterTimeout, "no answer in time")
        }
        if lane.state.isSpent { retire(lane) }
        pump()
    }

    private func heard() {
        (failures, nextConnect) = (0, 0)
        answers += 1
        crash?.reach(.afterAnswerBeforeRecord)
        owner.poolHeard(self)
    }

    private func succeeded(_ flight: Flight, on lane: APNsLane) {
        heard()
        lane.state.answered(success: true)
        if caution != nil, lane.state.hasGrown { caution = nil }
        key.succeeded()
        owner.pool(self, ended: flight, .sent, reason: "")
        if lane.state.isSpent { retire(lane) }
    }

    private func answered(_ flight: Flight, on lane: APNsLane, _ response: HTTP2Response) {
        heard()
        lane.state.answered(success: false)
        let now = clock.now
        let answer = APNsAnswer(status: response.status, headers: response.headers, body: response.body, now: now)
        let outcome = APNsOutcome(
            answer, registeredAt: flight.push.device.registeredAt, sentAt: flight.sentAt,
            hasOwnTopic: flight.hasOwnTopic)
        switch outcome {
        case .refreshToken, .doubtKey, .stopKey:
            // Meanwhile there is another key.
            if flight.generation < key.firstGeneration { return requeue(flight) }
        default: break
        }
        switch outcome {
        case .refreshToken:
            // A connection that was refused for an expired token stays unusable for a while.
            lane.state.retire()
            let isThere = key.token.refresh(stale: flight.generation, now: now)
            guard isThere, !flight.isRefreshed else { return doubt(flight, answer) }
            flight.isRefreshed = true
            requeue(flight)
        case .doubtKey:
            doubt(flight, answer)
        case .pauseConnection(let retryAfter):
            let pause = retryAfter ?? tuning.backoff.delay(attempts: 6)
            lane.state.pause(until: now + pause)
            clock.schedule(on: loop, after: pause) { [self] in pump() }
            owner.pool(self, ended: flight, outcome, reason: answer.label)
        default:
            owner.pool(self, ended: flight, outcome, reason: answer.label)
        }
    }

    /// It was refused, but the body that says why did not come whole: nothing was delivered, so that asking again is safe.
    private func cutOff(_ flight: Flight, on lane: APNsLane, status: Int) {
        lane.state.answered(success: false)
        owner.pool(self, ended: flight, .retry(retryAfter: nil), reason: "HTTP \(status), cut off")
    }

    private func doubt(_ flight: Flight, _ answer: APNsAnswer) {
        let outcome = key.doubt() ? APNsOutcome.stopKey(everywhere: true) : .retry(retryAfter: nil)
        owner.pool(self, ended: flight, outcome, reason: answer.label)
    }

    private func refused(_ flight: Flight, on lane: APNsLane) {
        lane.state.failed()
        // While anything is answered, refusals cannot go on for ever.
        flight.refusals = flight.answersAtRefusal == answers ? flight.refusals + 1 : 1
        flight.answersAtRefusal = answers
        if flight.refusals <= Self.maximumRefusals { return requeue(flight) }
        owner.poolTroubled(self)
        owner.pool(self, gaveBack: flight, at: clock.now + tuning.backoff.delay(attempts: 3), reason: "stream refused")
    }

    private func resend(_ flight: Flight, within policy: Bool, _ reason: String) {
        if policy { requeue(flight) } else { owner.pool(self, lost: flight, reason: reason) }
    }

    private func requeue(_ flight: Flight) {
        if let stop = key.stopped[environment] {
            owner.pool(self, gaveBack: flight, at: clock.now, reason: "\(ProviderKey.stoppedReason): \(stop)")
        } else if isClosed {
            owner.pool(self, gaveBack: flight, at: clock.now, reason: "shutting down")
        } else {
            queue.append(flight)
        }
    }

    private func retire(_ lane: APNsLane) {
        lane.state.retire()
        if lane.state.inFlight == 0 { lane.connection?.close() }
    }
}

// MARK: Connections

extension APNsConnectionPool: HTTP2ClientDelegate {
    func connectionOpened(_ connection: HTTP2ClientConnection) {
        lane(of: connection)?.state.opened()
        pump()
    }

    func connectionRoomChanged(_ connection: HTTP2ClientConnection) {
        pump()
    }

    func connection(_ connection: HTTP2ClientConnection, goingAway errorCode: UInt32, debug: [UInt8]) {
        guard let lane = lane(of: connection) else { return }
        // Apple puts JSON here as well.
        let reason = APNsAnswer(status: 0, body: debug, now: 0).reason
        emit(
            "push", "goaway",
            [
                "channel": "apns", "environment": environment.rawValue, "code": "\(errorCode)",
                "reason": reason ?? "", "in_flight": "\(lane.state.inFlight)",
            ])
        retire(lane)
        pump()
    }

    func connectionClosed(_ connection: HTTP2ClientConnection, error: (any Error)?) {
        guard let index = lanes.firstIndex(where: { $0.connection === connection }) else { return }
        let lane = lanes.remove(at: index)
        // Breaks the cycle between them.
        lane.connection = nil
        guard !isClosed else { return }
        if lane.state.hasAnswered {
            if let error { report("connection_lost", lane, error) }
        } else {
            failures += 1
            nextConnect = clock.now + tuning.backoff.delay(attempts: failures)
            report("connection_failed", lane, error)
            owner.poolTroubled(self)
        }
        if let downUntil { giveBackQueue(at: downUntil, reason: "gateway out of reach") }
        pump()
    }

    private func lane(of connection: HTTP2ClientConnection) -> APNsLane? {
        lanes.first { $0.connection === connection }
    }

    private func report(_ op: String, _ lane: APNsLane, _ error: (any Error)?) {
        emit(
            "push", op,
            [
                "channel": "apns", "environment": environment.rawValue, "gateway": gateway.description,
                "error": Self.words(error), "lost": "\(lane.ambiguous)",
                "failures": "\(failures)",
            ])
    }

    /// Without anything that the peer has said: it may say our secrets back.
    private static func words(_ error: (any Error)?) -> String {
        switch error {
        case nil: "closed before any answer"
        case ConnectionError.goAway(let code, _)?: "the peer ended the connection with error \(code)"
        case ConnectionError.protocolViolation?: "the peer broke the rules of HTTP/2"
        case let error?: "\(error)"
        }
    }
}
