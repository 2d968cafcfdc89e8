import HookKit
import Indexer
import Push
import Storage
import Synchronization

/// A Hark put together from its configuration: database, tables, push and indexer. Thread-safe.
public final class Assembly: Sendable {
    public let kept: KeptCollections
    let indexer: Indexer
    let push: PushService?
    let database: Database
    let emit: Emit

    /// The ways to devices that there are credentials for.
    var channels: [String] { push == nil ? [] : ["apns"] }

    /// How long `stop` waits for hooks that are running, and again for pushes that are under way.
    private static let stopDeadline: Duration = .seconds(5)

    /// What the events are, which decides whether old ones still notify.
    public enum Purpose: Sendable {
        /// A live source: events older than `push.maxAge` notify nobody.
        case serving
        /// Recordings: their events notify whatever their age.
        case replaying
    }

    /// How often delivery looks for what `hark queue retry` has made due.
    private static let lookInterval: Duration = .seconds(3)

    /// Opens the database for this process alone, brings its tables up to the lexicons and starts delivery.
    ///
    /// - Parameter log: gets whatever is emitted, as JSON, a line a call with its newline; called on any thread.
    /// - Throws: `OperatorError` and its kin, or `RunError`; in either case nothing is left running.
    public convenience init(
        _ configuration: Configuration, hooks: [Hook], purpose: Purpose = .serving,
        log: @escaping @Sendable (String) -> Void
    ) throws {
        try self.init(configuration, hooks: hooks, purpose: purpose, crash: nil, log: log)
    }

    /// - Parameter crash: is told when the process comes to a crash point; for tests.
    package init(
        _ configuration: Configuration, hooks: [Hook], purpose: Purpose, crash: CrashPoints?,
        log: @escaping @Sendable (String) -> Void
    ) throws {
        let emit = Emit.jsonLines(log)
        self.emit = emit
        kept = try KeptCollections(configuration, hooks: hooks)
        database = try Database.open(configuration.database, as: .runner, crash: crash)
        do {
            let schema = RecordSchema(lexicons: kept.lexicons, kept: kept.filter)
            for line in try schema.migrate(database) { emit("storage", "column-left-out", ["message": line]) }
            if let follows = configuration.push?.tuning.follows, let problem = kept.problem(with: follows) {
                emit("push", "follows-unknown", ["message": problem])
            }
            push = try configuration.push.map { [database] in
                try Self.pushService($0, purpose, database: database, emit: emit)
            }
            indexer = Indexer(
                database: database, schema: schema, lexicons: kept.lexicons, kept: kept.filter, hooks: hooks,
                options: configuration.indexing, outbox: Self.outbox(push, emit: emit), emit: emit)
        } catch {
            database.close()
            throw error
        }
        push?.start()
    }

    /// Stops in the order of the data: what runs may finish within a few seconds. What it leaves undone, the next start does.
    public func stop() async { await stop(deadline: Self.stopDeadline) }

    /// The same, within three times `deadline`.
    func stop(deadline: Duration) async {
        let (indexer, push) = (indexer, push)
        let hooksEnded = await finishes(within: deadline) { try? await indexer.drainHooks() }
        let pushEnded = await finishes(within: deadline * 2) { await push?.stop(deadline: deadline) }
        // What still runs may yet ask for the database: it is left open then, which loses nothing.
        if hooksEnded && pushEnded { database.close() }
    }

    /// Takes up the key of a configuration that was read anew, as far as push is on in both; all else stays as it was.
    ///
    /// - Throws: `OperatorError`; delivery then goes on with the key it has.
    public func reloadKey(_ configuration: Configuration) throws(OperatorError) {
        guard let push, let apns = configuration.push?.apns else { return }
        do {
            try push.reloadKey(apns)
        } catch {
            throw OperatorError("push.apns cannot be used: \(error)")
        }
    }

    /// Rows by collection, of the collections that have a lexicon.
    public func recordCounts() throws -> [String: Int] {
        try database.read { connection in
            try kept.described.reduce(into: [:]) { counts, collection in
                counts[collection] = try connection.recordCount(of: collection)
            }
        }
    }

    /// The last characters of every registered token.
    public func deviceSuffixes() throws -> [String] {
        try database.read { try $0.tokens(did: nil).map(\.suffix) }
    }

    private static func pushService(
        _ push: PushConfiguration, _ purpose: Purpose, database: Database, emit: Emit
    ) throws(OperatorError) -> PushService {
        var tuning = push.tuning
        if tuning.lookInterval == nil { tuning.lookInterval = lookInterval }
        if purpose == .replaying {
            tuning.maximumAge = nil
            // What a recording brings about is what its hooks say, to the byte.
            tuning.namesRecipient = false
        }
        do {
            return try PushService(
                database: database, apns: push.apns, emit: emit, tuning: tuning,
                hookDatabase: StoredHookDatabase(database: database))
        } catch {
            throw OperatorError("push.apns cannot be used: \(error)")
        }
    }

    private static func outbox(_ push: PushService?, emit: Emit) -> NotificationOutbox {
        guard let push else { return .reportingThatPushIsOff(emit) }
        return NotificationOutbox(
            draft: { notification, origin in push.draft(of: notification, origin: origin) },
            committed: { writes in push.committed(writes) })
    }
}

extension NotificationOutbox {
    /// Drops every notification, and says so at the first.
    fileprivate static func reportingThatPushIsOff(_ emit: Emit) -> NotificationOutbox {
        let hasReported = Atomic(false)
        return NotificationOutbox(
            draft: { _, _ in
                if !hasReported.exchange(true, ordering: .relaxed) {
                    emit("push", "off", ["message": "the configuration has no push section: nothing is sent"])
                }
                return .nothing
            },
            committed: { _ in }, notesSilence: false)
    }
}
