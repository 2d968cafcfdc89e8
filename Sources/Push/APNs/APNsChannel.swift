import Crypto
import HookKit
import Net
import Storage

/// Apple's push service: a pool of connections per environment, one key, and what answers mean for rows and tokens.
/// Confined to the loop.
final class APNsChannel: PushChannel {
    /// Rows of an environment in which the key has stopped are offered again after this many milliseconds.
    private static let stoppedPause: Int64 = 300_000

    let platform = "apns"
    private let bundleID: String
    private let gateways: ByEnvironment<Endpoint>
    private let tls: TLSContext
    private let loop: EventLoop
    private let tuning: PushTuning
    private let clock: any PushClock
    private let emit: Emit
    private let key: ProviderKey
    /// Outlives its channels; unsafe because every push asks for it.
    private unowned(unsafe) let owner: any PushChannelOwner
    private let crash: CrashPoints?

    private var pools = ByEnvironment<APNsConnectionPool?> { _ in nil }
    private var runs: ByEnvironment<BadTokenRun<Flight>>
    /// Tokens that are being removed, and the time before which they were registered.
    private var gone: [Int64: Int64] = [:]
    /// Devices that take nothing before a time.
    private var throttled: [Int64: Int64] = [:]
    private var inFlight = 0
    private var isClosed = false
    private(set) var keepsRowsBack = false

    /// - Parameter gateways: where each environment's pushes go; Apple's when nil.
    init(
        _ configuration: APNsConfiguration, gateways: [APNsEnvironment: Endpoint]? = nil, loop: EventLoop,
        tuning: PushTuning, clock: any PushClock, emit: Emit, owner: any PushChannelOwner, crash: CrashPoints? = nil
    ) throws {
        let privateKey = try PrivateKey(pem: configuration.keyPEM)
        let token = try ProviderToken(
            key: privateKey, keyID: configuration.keyID, teamID: configuration.teamID, now: clock.now)
        key = ProviderKey(id: configuration.keyID, token: token, emit: emit)
        tls = try TLSContext.client(caFile: configuration.caFile)
        bundleID = configuration.bundleID
        self.gateways = ByEnvironment { gateways?[$0] ?? configuration.standIn ?? $0.gateway }
        self.loop = loop
        self.tuning = tuning
        self.clock = clock
        self.emit = emit
        self.owner = owner
        self.crash = crash
        runs = ByEnvironment { _ in
            BadTokenRun(
                limitBeforeSuccess: tuning.badTokensBeforeSuccess, limitSinceSuccess: tuning.badTokensSinceSuccess)
        }
    }

    /// Signs with this key from now on. What the present one was stopped for is forgotten, even when it is the same; but
    /// that a key is loaded again which works changes nothing. Connections are made anew.
    func replaceKey(_ privateKey: PrivateKey, id: String, teamID: String) throws {
        let isSame = key.token.isSigned(by: privateKey, id: id, teamID: teamID)
        if !isSame || !key.stopped.isEmpty {
            key.replace(id: id, token: try token(after: key.token, isSame, privateKey, id, teamID))
            keepsRowsBack = false
            for pool in pools.values { pool?.replaceConnections() }
        }
        emit("push", "key_loaded", ["channel": "apns", "key": id])
    }

    /// The same key's next token comes no sooner than Apple likes, however often the key is loaded.
    private func token(
        after old: ProviderToken, _ isSame: Bool, _ privateKey: PrivateKey, _ id: String, _ teamID: String
    ) throws -> ProviderToken {
        let now = clock.now
        guard isSame else {
            return try ProviderToken(
                key: privateKey, keyID: id, teamID: teamID, now: now, generation: old.generation + 1)
        }
        var token = old
        _ = token.refresh(stale: token.generation, now: now)
        return token
    }

    var figures: ChannelFigures {
        var figures = ChannelFigures(channel: platform)
        for case let pool? in pools.values {
            figures.connections += pool.connectionCount
            figures.streams += pool.streamCount
        }
        figures.tokenRenewals = key.token.generation - 1
        return figures
    }

    var heldCount: Int { runs.values.reduce(0) { $0 + $1.held.count } }

    var closedUntil: Int64? {
        if key.isStoppedEverywhere { return .max }
        var earliest: Int64?
        for case let pool? in pools.values where key.stopped[pool.environment] == nil {
            guard let time = pool.downUntil else { return nil }
            earliest = min(earliest ?? .max, time)
        }
        return earliest
    }

    func send(_ push: QueuedPush) {
        inFlight += 1
        guard let environment = APNsEnvironment(rawValue: push.device.environment) else {
            return finish(push, .dead, "unknown environment")
        }
        let flight = Flight(push, bundleID: bundleID, environment: environment)
        if let refusal = APNsRequest.refusal(of: push, topic: flight.topic) {
            return finish(push, .dead, refusal)
        }
        if let before = gone[push.device.id], push.device.registeredAt < before {
            return finish(push, .removeToken(registeredBefore: before), "token removed")
        }
        if let until = throttled[push.device.id], until > clock.now {
            return finish(push, .retry(at: until, counted: false), "TooManyRequests")
        }
        if runs[environment].holds(token: push.device.id) {
            flight.sentAt = clock.now
            return badToken(flight)
        }
        dispatch(flight)
    }

    func flush() {
        for case let pool? in pools.values { pool.pump() }
    }

    func settleHeld() {
        for environment in APNsEnvironment.allCases { removeHeld(environment) }
    }

    func close(deadline: Duration) {
        isClosed = true
        for environment in APNsEnvironment.allCases {
            for flight in runs[environment].release() { giveBack(flight, at: clock.now, "shutting down") }
        }
        for pool in pools.values { pool?.close(deadline: deadline) }
    }

    private func dispatch(_ flight: Flight) {
        if isClosed { return giveBack(flight, at: clock.now, "shutting down") }
        if let reason = key.stopped[flight.environment] {
            keepsRowsBack = true
            return giveBack(flight, at: timeAfterStop, "\(ProviderKey.stoppedReason): \(reason)")
        }
        pool(flight.environment).add(flight)
    }

    /// When rows of a stopped key are due again: at once when nobody claims them any more, else out of the others' way.
    private var timeAfterStop: Int64 { clock.now + (key.isStoppedEverywhere ? 0 : Self.stoppedPause) }

    private func pool(_ environment: APNsEnvironment) -> APNsConnectionPool {
        if let pool = pools[environment] { return pool }
        let pool = APNsConnectionPool(
            environment, gateway: gateways[environment], tls: tls, loop: loop, key: key,
            tuning: tuning, clock: clock, emit: emit, owner: self, crash: crash)
        pools[environment] = pool
        return pool
    }
}

// MARK: What pools report

extension APNsChannel: APNsPoolOwner {
    func poolHeard(_ pool: APNsConnectionPool) { owner.heard() }
    func poolTroubled(_ pool: APNsConnectionPool) { owner.troubled() }

    func pool(_ pool: APNsConnectionPool, gaveBack flight: Flight, at time: Int64, reason: String) {
        giveBack(flight, at: time, reason)
    }

    func pool(_ pool: APNsConnectionPool, lost flight: Flight, reason: String) {
        die(flight, "may have been delivered: \(reason)")
    }

    func pool(_ pool: APNsConnectionPool, ended flight: Flight, _ outcome: APNsOutcome, reason: String) {
        switch outcome {
        case .sent:
            sent(flight)
        case .removeToken(let before):
            remove(flight, registeredBefore: before, reason)
        case .badToken:
            badToken(flight)
        case .dead:
            die(flight, reason, isTokensFault: APNsOutcome.isFault(reason, ofTokenWithOwnTopic: flight.hasOwnTopic))
        case .stopKey(let everywhere):
            stop(flight, everywhere ? APNsEnvironment.allCases : [flight.environment], reason)
        case .throttled(let retryAfter):
            let delay = max(retryAfter ?? 0, tuning.backoff.delay(attempts: flight.push.attempts + 1))
            throttle(flight.push.device.id, until: clock.now + delay)
            retry(flight, after: delay, reason)
        case .retry(let retryAfter), .pauseConnection(let retryAfter):
            let delay = max(retryAfter ?? 0, tuning.backoff.delay(attempts: flight.push.attempts + 1))
            retry(flight, after: delay, reason)
        case .refreshToken, .doubtKey:
            // The pool has made one of the others of it.
            retry(flight, after: tuning.backoff.delay(attempts: flight.push.attempts + 1), reason)
        }
    }

    private func sent(_ flight: Flight) {
        runs[flight.environment].succeeded()
        if !runs[flight.environment].held.isEmpty { removeHeld(flight.environment) }
        var end = PushEnd(flight.push, .sent)
        if flight.environment != flight.home {
            end.correction = (flight.home, flight.environment)
            emit(
                "push", "environment_corrected",
                ["channel": "apns", "token": suffix(flight), "environment": flight.environment.rawValue])
        }
        finish(end)
    }

    private func retry(_ flight: Flight, after delay: Int64, _ reason: String) {
        guard flight.push.attempts + 1 < tuning.maximumAttempts else {
            return die(flight, "gave up after \(flight.push.attempts + 1) attempts: \(reason)")
        }
        later(flight, at: clock.now + delay, counted: true, reason)
    }

    /// Counted only when it may have been delivered: else a peer that drops every connection would be sent it for ever.
    private func giveBack(_ flight: Flight, at time: Int64, _ reason: String) {
        let isCounted = flight.isAmbiguous || flight.environment != flight.home
        guard !isCounted || flight.push.attempts + 1 < tuning.maximumAttempts else {
            return die(flight, "gave up after \(flight.push.attempts + 1) attempts: \(reason)")
        }
        later(flight, at: time, counted: isCounted, reason)
    }

    private func later(_ flight: Flight, at time: Int64, counted: Bool, _ reason: String) {
        guard time < flight.push.expiresAt else { return finish(flight.push, .expired, reason) }
        finish(flight.push, .retry(at: time, counted: counted), reason)
    }

    private func die(_ flight: Flight, _ reason: String, isTokensFault: Bool = false) {
        emit(
            "push", "dead",
            [
                "channel": "apns", "id": "\(flight.push.id)", "token": suffix(flight), "topic": flight.topic,
                "environment": flight.environment.rawValue, "reason": reason,
            ])
        finish(PushEnd(flight.push, .dead, error: reason, isTokensFault: isTokensFault))
    }

    private func throttle(_ token: Int64, until time: Int64) {
        if throttled.count >= 1000 {
            let now = clock.now
            throttled = throttled.filter { $0.value > now }
        }
        throttled[token] = time
    }

    /// The last of what is in memory is also the last that a removed token's rows can be among.
    private func finish(_ end: PushEnd) {
        inFlight -= 1
        if inFlight == 0, !gone.isEmpty { gone = [:] }
        owner.finished(end)
    }

    private func finish(_ push: QueuedPush, _ outcome: PushSettlement.Outcome, _ reason: String) {
        finish(PushEnd(push, outcome, error: reason))
    }

    private func suffix(_ flight: Flight) -> String { "…\(DeviceToken.suffix(of: flight.push.device.token))" }
}

// MARK: Dead tokens and dead keys

extension APNsChannel {
    private func remove(_ flight: Flight, registeredBefore time: Int64, _ reason: String) {
        let token = flight.push.device.id
        if gone[token] == nil {
            emit(
                "push", "token_removed",
                ["channel": "apns", "token": suffix(flight), "environment": flight.home.rawValue, "reason": reason])
        }
        gone[token] = max(gone[token] ?? 0, time)
        let others =
            pools[flight.environment]?.withdraw { $0.device.id == token && $0.device.registeredAt < time } ?? []
        for flight in [flight] + others { finish(flight.push, .removeToken(registeredBefore: time), reason) }
    }

    /// A token may be of the other environment: it is tried there once, then held back as `BadTokenRun` has it.
    private func badToken(_ flight: Flight) {
        let other = flight.home.other
        if flight.environment == flight.home, gateways[flight.home] != gateways[other], key.stopped[other] == nil,
            !runs[flight.home].holds(token: flight.push.device.id)
        {
            flight.environment = other
            let pool = pool(other)
            pool.add(flight)
            return pool.pump()
        }
        flight.environment = flight.home
        let token = flight.push.device.id
        var isTooLong = runs[flight.home].bad(token: token, flight)
        for other in pools[flight.home]?.withdraw(where: { $0.device.id == token }) ?? [] {
            other.sentAt = flight.sentAt
            isTooLong = runs[flight.home].bad(token: token, other)
        }
        guard isTooLong else { return owner.heldBack() }
        let held = runs[flight.home].release()
        let reason = "BadDeviceToken for every token"
        key.stop([flight.home], reason: reason)
        owner.troubled()
        keepsRowsBack = true
        let time = timeAfterStop
        let waiting = "\(ProviderKey.stoppedReason): \(reason)"
        for flight in held { giveBack(flight, at: time, waiting) }
        pools[flight.home]?.giveBackQueue(at: time, reason: waiting)
    }

    private func removeHeld(_ environment: APNsEnvironment) {
        for flight in runs[environment].release() {
            remove(flight, registeredBefore: flight.sentAt + 1, "BadDeviceToken")
        }
    }

    private func stop(_ flight: Flight, _ environments: [APNsEnvironment], _ reason: String) {
        key.stop(environments, reason: reason)
        owner.troubled()
        if flight.environment != flight.home, key.stopped[flight.home] == nil {
            // The key is not for the other environment: then the answer at home stands.
            return badToken(flight)
        }
        keepsRowsBack = true
        let time = timeAfterStop
        giveBack(flight, at: time, "\(ProviderKey.stoppedReason): \(reason)")
        for environment in environments {
            pools[environment]?.giveBackQueue(at: time, reason: "\(ProviderKey.stoppedReason): \(reason)")
        }
    }
}
