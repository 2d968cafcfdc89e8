import Crypto
import Glibc
import Net

/// Answers the requests of all connections. Confined to the server's loop.
///
/// Sendable so that its timers may refer to it; all that changes is touched on the loop alone.
final class APNsGateway: HTTP2ServerHandler, @unchecked Sendable {
    /// What a connection has been through.
    struct Session {
        var number: Int
        var check: ProviderTokenCheck
        var requests = 0
        /// More than one stream is allowed, since a request with a valid provider token was answered.
        var isOpen = false
        /// The last stream that its GOAWAY covers.
        var lastStream: Int32?
    }

    /// MAX_CONCURRENT_STREAMS of an open connection.
    static let usualStreams: UInt32 = 1000

    let judge: RequestJudge
    private let providers: [ProviderTokenCheck.Provider]
    let plan: FaultPlan
    private let log: APNsLog?
    private let onPush: (@Sendable (ReceivedPush) -> Void)?
    private let ledger: PushLedger
    let loop: EventLoop

    var sessions: [ObjectIdentifier: Session] = [:]
    private var connections = 0
    private var requests = 0
    /// Those that Apple would accept.
    private var acceptable = 0
    private var ids = RecentIDs()
    private var random: SplitMix64

    init(options: APNsSimulator.Options, providers: [ProviderTokenCheck.Provider], ledger: PushLedger, loop: EventLoop)
    {
        let start = Self.nowMilliseconds
        judge = RequestJudge(
            deadTokens: Dictionary(
                options.deadTokens.map { ($0.key.lowercased(), $0.value ?? start) }, uniquingKeysWith: { $1 }),
            badTokens: Set(options.badTokens.map { $0.lowercased() }),
            tokenTopics: Dictionary(
                options.tokenTopics.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 }),
            topics: options.topics, isStrict: options.strictness == .strict)
        self.providers = providers
        plan = FaultPlan(faults: options.faults)
        random = SplitMix64(state: options.faults.seed)
        log = options.log
        onPush = options.onPush
        self.ledger = ledger
        self.loop = loop
    }

    static var nowMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    func serverConnected(_ connection: HTTP2ServerConnection) {
        connections += 1
        sessions[ObjectIdentifier(connection)] = Session(
            number: connections, check: ProviderTokenCheck(providers: providers, isStrict: judge.isStrict))
        ledger.noteConnection()
    }

    func serverDisconnected(_ connection: HTTP2ServerConnection, error: (any Error)?) {
        sessions[ObjectIdentifier(connection)] = nil
    }

    func server(_ connection: HTTP2ServerConnection, stream: Int32, headers: [HeaderField], body: [UInt8]) {
        guard var session = sessions[ObjectIdentifier(connection)] else { return }
        if let last = session.lastStream, stream > last { return }
        session.requests += 1
        let goAway = plan.faults.goAway.flatMap { $0.afterRequests == session.requests ? $0 : nil }
        if goAway != nil { session.lastStream = stream }
        let decision = decide(APNsRequest(headers: headers, body: body), session: &session)
        sessions[ObjectIdentifier(connection)] = session

        limitStreams(of: connection, after: session.requests)
        schedule(decision, on: connection, stream: stream)
        if let goAway {
            connection.goAway(
                lastStream: stream, errorCode: goAway.errorCode, debug: Self.body(reason: "Shutdown"))
        }
    }
}

extension APNsGateway {
    private func decide(_ request: APNsRequest, session: inout Session) -> Decision {
        requests += 1
        var push = ReceivedPush(
            sequence: requests, timeMilliseconds: Self.nowMilliseconds, connection: session.number,
            apnsID: request.id ?? newID(), payload: request.body)
        let parsed = Result { () throws(PayloadParser.Failure) in try PayloadParser.parse(request.body) }
        let payload = try? parsed.get()
        if let payload { push.take(payload) }
        push.attempt = ids.noteAttempt(push.apnsID)
        var decision = decide(request, parsed: parsed, session: &session, push: &push)
        decision.isAuthenticated = session.check.hasSucceeded
        let isDuplicate = push.isAccepted && ids.noteAccepted(push.apnsID)
        log?.note(push, payload: payload)
        ledger.add(push, isDuplicate: isDuplicate)
        onPush?(push)
        return decision
    }

    private func decide(
        _ request: APNsRequest, parsed: Result<PayloadValue, PayloadParser.Failure>, session: inout Session,
        push: inout ReceivedPush
    ) -> Decision {
        if judge.isStrict, let fault = request.shapeFault {
            push.note(nil, "Malformed", fault)
            return Decision(action: .drop, id: push.apnsID)
        }
        do { try judge.judge(request, parsed: parsed, check: &session.check, into: &push) } catch {
            push.note(error.reason.status, error.reason.rawValue, error.detail)
            return Decision(action: .refuse(error), id: push.apnsID)
        }
        acceptable += 1
        let subject = FaultPlan.Subject(
            token: push.token, payload: push.payload, attempt: push.attempt, number: acceptable)
        let delay = plan.delay(of: subject)
        if let effect = plan.effect(on: subject) {
            push.note(effect.status, effect.label, "told to")
            return Decision(action: .fault(effect), id: push.apnsID, delay: delay)
        }
        push.status = 200
        return Decision(action: .accept, id: push.apnsID, delay: delay)
    }

    /// A random UUID, version 4.
    private func newID() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Base16.encode(bytes)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
            String(digits.dropFirst(range.lowerBound).prefix(range.count))
        }.joined(separator: "-")
    }
}
