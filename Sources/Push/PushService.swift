import Crypto
import HookKit
import Net
import Storage
import Synchronization

/// Delivers the outbox, and turns a hook's notifications into outbox entries. Thread-safe.
///
/// ```swift
/// let push = try PushService(database: database, apns: configuration, emit: emit)
/// push.start()
/// let draft = push.draft(of: notification, origin: origin)  // written with the hook's job, then delivered
/// ```
public final class PushService: Sendable {
    private let loop: EventLoop
    private let database: Database
    private let worker: OutboxWorker
    private let apns: APNsBox
    private let sweeper: OutboxSweeper
    private let badges: BadgeCounter
    private let clock: any PushClock
    private let tuning: PushTuning
    private let emit: Emit
    private let published = Published()
    /// The loop has ended, or is about to: what is handed to it is dropped.
    private let isStopped = Atomic(false)

    /// Throws when the key is none, or the roots cannot be read. Nothing is sent before `start`.
    ///
    /// - Parameter hookDatabase: what the closures are handed that count badges.
    public convenience init(
        database: Database, apns: APNsConfiguration, emit: Emit, tuning: PushTuning = PushTuning(),
        hookDatabase: (any HookDatabase)? = nil
    ) throws {
        try self.init(
            database: database, apns: apns, emit: emit, tuning: tuning, clock: SystemClock(),
            hookDatabase: hookDatabase)
    }

    /// - Parameter gateways: where each environment's pushes go; the configuration's when nil.
    init(
        database: Database, apns: APNsConfiguration, emit: Emit, tuning: PushTuning, clock: any PushClock,
        gateways: [APNsEnvironment: Endpoint]? = nil, hookDatabase: (any HookDatabase)? = nil
    ) throws {
        self.database = database
        self.clock = clock
        self.tuning = tuning
        self.emit = emit
        loop = try EventLoop(name: "push")
        badges = BadgeCounter(database: database, hookDatabase: hookDatabase, emit: emit)
        worker = OutboxWorker(
            database: database, loop: loop, tuning: tuning, clock: clock, emit: emit, published: published,
            badges: badges)
        sweeper = OutboxSweeper(
            database: database, loop: loop, clock: clock, retention: tuning.retention, emit: emit)
        let channel = try APNsChannel(
            apns, gateways: gateways, loop: loop, tuning: tuning, clock: clock, emit: emit, owner: worker,
            crash: database.crash)
        worker.channels = [channel]
        database.submit { [follows = tuning.follows] in
            $0.follows = follows
        } committed: { _ in
        }
        self.apns = APNsBox(channel)
    }

    /// A service that nobody stopped: its connections end while those whom they call are still there. The loop never
    /// holds the service itself, so that this is not its thread.
    deinit {
        loop.stop()
        worker.letGo()
    }

    /// Signs with the configuration's key from now on, whose ids may be new as well; a key that Apple refused is forgotten.
    /// The topic and the gateway stay as they were. Throws when it holds no key; then nothing changes.
    public func reloadKey(_ configuration: APNsConfiguration) throws {
        let key = try PrivateKey(pem: configuration.keyPEM)
        // Shows whether the key can sign at all.
        _ = try ProviderToken(key: key, keyID: configuration.keyID, teamID: configuration.teamID, now: clock.now)
        loop.execute { [apns, worker, emit] in
            do {
                try apns.channel.replaceKey(key, id: configuration.keyID, teamID: configuration.teamID)
                worker.keyReplaced()
            } catch {
                emit("push", "key_not_loaded", ["channel": "apns", "key": configuration.keyID, "error": "\(error)"])
            }
        }
    }

    /// What a notification is to become. What Apple would refuse is refused by name, in a note and through `emit`; what
    /// is of too old an event gets a note alone, since there may be very many.
    public func draft(of notification: Notification, origin: SendOrigin) -> OutboxDraft {
        let now = clock.now
        if let limit = tuning.maximumAge, let time = origin.time, now - time > limit.wholeMilliseconds {
            published.add(OutboxNote.tooOld)
            return .note(OutboxNote(origin, did: notification.did, reason: OutboxNote.tooOld))
        }
        do throws(NotificationRefusal) {
            return .entry(
                try OutboxEntry(
                    notification, origin: origin, now: now, lifetime: tuning.lifetime.wholeMilliseconds,
                    namesRecipient: tuning.namesRecipient, badges: badges.closures))
        } catch {
            published.add("refused", error.name)
            emit(
                "push", "refused",
                ["did": notification.did, "hook": origin.hook, "uri": origin.uri, "reason": "\(error)"])
            return .note(OutboxNote(origin, did: notification.did, reason: "refused: \(error)"))
        }
    }

    /// The same for a process that leaves the delivery to another: `origin` is not asked for its age.
    ///
    /// - Throws: what `draft` reports, with a description for people.
    public static func entry(
        of notification: Notification, origin: SendOrigin, tuning: PushTuning
    ) throws -> OutboxEntry {
        try OutboxEntry(
            notification, origin: origin, now: SystemClock().now, lifetime: tuning.lifetime.wholeMilliseconds,
            namesRecipient: tuning.namesRecipient, badges: BadgeClosures())
    }

    /// Takes up what an earlier process left, and begins to deliver.
    public func start() {
        loop.execute { [worker, sweeper] in
            worker.start()
            sweeper.start()
        }
    }

    /// Counts what the ends of jobs have written. Never blocks.
    public func committed(_ writes: OutboxWrites) { published.add(writes) }

    /// Rows may be due that another process has written. Those written through `database` make themselves known.
    ///
    /// Never blocks.
    public func wake() {
        guard !worker.isWakePosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.execute { [worker] in
            worker.isWakePosted.store(false, ordering: .releasing)
            worker.wake()
        }
    }

    /// Waits until no row is waiting or running, however long rows wait for their next attempt.
    ///
    /// Gives up when there was nothing but trouble for `giveUpAfter` (the gateway cannot be reached, or has refused the
    /// key); returns how many rows are left.
    public func drain(giveUpAfter: Duration) async -> Int {
        let patience = giveUpAfter.wholeMilliseconds
        if !isStopped.load(ordering: .acquiring), await empties(within: patience) { return 0 }
        let counts = try? await database.write { try $0.connection.outboxCounts() }
        return counts.map { $0.waiting + $0.running } ?? 0
    }

    private func empties(within patience: Int64) async -> Bool {
        await withCheckedContinuation { continuation in
            loop.execute { [worker] in
                worker.drain(giveUpAfter: patience) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Stops claiming, lets what is in flight finish within `deadline`, records outcomes, closes.
    /// Later calls do nothing, and `drain` then only counts.
    public func stop(deadline: Duration) async {
        guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        await withCheckedContinuation { continuation in
            loop.execute { [worker, sweeper] in
                sweeper.stop()
                worker.stop(deadline: deadline) { continuation.resume() }
            }
        }
        loop.stop()
        worker.letGo()
    }

    /// What each channel has open at the moment; empty once the service has been stopped.
    public func channelFigures() async -> [ChannelFigures] {
        guard !isStopped.load(ordering: .acquiring) else { return [] }
        return await withCheckedContinuation { continuation in
            let answer = FiguresAnswer(continuation)
            loop.execute { [worker] in answer.give(worker.channels.map(\.figures)) }
        }
    }

    /// Since start: what is recorded in the outbox.
    public var counts: PushCounts { published.counts }

    /// Since start: notifications and rows by what became of them, and why.
    public var outcomes: PushOutcomes { published.outcomes }
}

/// Whoever waits for figures gets none when the loop ends without having been asked.
private final class FiguresAnswer: Sendable {
    private let continuation: Mutex<CheckedContinuation<[ChannelFigures], Never>?>

    init(_ continuation: CheckedContinuation<[ChannelFigures], Never>) { self.continuation = Mutex(continuation) }

    func give(_ figures: [ChannelFigures]) { continuation.withLock { $0.take() }?.resume(returning: figures) }

    deinit { give([]) }
}

/// Confined to the loop, apart from its `init`.
private final class APNsBox: @unchecked Sendable {
    let channel: APNsChannel
    init(_ channel: APNsChannel) { self.channel = channel }
}
