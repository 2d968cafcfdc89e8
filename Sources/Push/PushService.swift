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
/// if let entry = push.entry(for: notification, origin: origin) { … }  // written with the hook's job, then delivered
/// ```
public final class PushService: Sendable {
    private let loop: EventLoop
    private let database: Database
    private let worker: OutboxWorker
    private let apns: APNsBox
    private let clock: any PushClock
    private let tuning: PushTuning
    private let emit: Emit
    private let published = Published()
    private let isWakePosted = Atomic(false)
    /// The loop has ended, or is about to: what is handed to it is dropped.
    private let isStopped = Atomic(false)

    /// Throws when the key is none, or the roots cannot be read. Nothing is sent before `start`.
    public convenience init(
        database: Database, apns: APNsConfiguration, emit: Emit, tuning: PushTuning = PushTuning()
    ) throws {
        try self.init(database: database, apns: apns, emit: emit, tuning: tuning, clock: SystemClock())
    }

    /// - Parameter gateways: where each environment's pushes go; the configuration's when nil.
    init(
        database: Database, apns: APNsConfiguration, emit: Emit, tuning: PushTuning, clock: any PushClock,
        gateways: [APNsEnvironment: Endpoint]? = nil
    ) throws {
        self.database = database
        self.clock = clock
        self.tuning = tuning
        self.emit = emit
        loop = try EventLoop(name: "push")
        worker = OutboxWorker(
            database: database, loop: loop, tuning: tuning, clock: clock, emit: emit, published: published)
        let channel = try APNsChannel(
            apns, gateways: gateways, loop: loop, tuning: tuning, clock: clock, emit: emit, owner: worker)
        worker.channels = [channel]
        self.apns = APNsBox(channel)
    }

    /// Signs with the configuration's key from now on, whose ids may be new as well; a key that Apple refused is forgotten.
    /// The topic and the gateway stay as they were. Throws when it holds no key; then nothing changes.
    public func reloadKey(_ configuration: APNsConfiguration) throws {
        let key = try PrivateKey(pem: configuration.keyPEM)
        // Shows whether the key can sign at all.
        _ = try ProviderToken(key: key, keyID: configuration.keyID, teamID: configuration.teamID, now: clock.now)
        loop.execute { [self] in
            do {
                try apns.channel.replaceKey(key, id: configuration.keyID, teamID: configuration.teamID)
                worker.heard()
                worker.wake()
            } catch {
                emit("push", "key_not_loaded", ["channel": "apns", "key": configuration.keyID, "error": "\(error)"])
            }
        }
    }

    /// Refuses, by name and through `emit`, what Apple would refuse (nil); else the entry to write.
    public func entry(for notification: Notification, origin: SendOrigin) -> OutboxEntry? {
        do {
            return try OutboxEntry(
                notification, origin: origin, expiresAt: clock.now + tuning.lifetime.wholeMilliseconds)
        } catch {
            emit(
                "push", "refused",
                ["did": notification.did, "hook": origin.hook, "uri": origin.uri, "reason": "\(error)"])
            return nil
        }
    }

    /// Takes up what an earlier process left, and begins to deliver.
    public func start() {
        loop.execute { [worker] in worker.start() }
    }

    /// Rows may be due that another process has written. Those written through `database` make themselves known.
    ///
    /// Never blocks.
    public func wake() {
        guard !isWakePosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.execute { [self] in
            isWakePosted.store(false, ordering: .releasing)
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
            loop.execute { [worker] in
                worker.stop(deadline: deadline) { continuation.resume() }
            }
        }
        loop.stop()
    }

    /// Since start: what is recorded in the outbox.
    public var counts: PushCounts { published.counts }
}

/// Confined to the loop, apart from its `init`.
private final class APNsBox: @unchecked Sendable {
    let channel: APNsChannel
    init(_ channel: APNsChannel) { self.channel = channel }
}

/// The worker's counts, for other threads to read.
final class Published: Sendable {
    private let state = Mutex(PushCounts())

    var counts: PushCounts {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
