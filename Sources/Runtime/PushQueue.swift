import ATProto
import FoundationEssentials
import HookKit
import Push
import Storage

/// The outbox of a database, for operators. Works beside a running Hark; never hands out a whole token.
public struct PushQueue: Sendable {
    private let database: Database

    /// Rows made due in one transaction.
    private static let step = 500

    /// - Throws: `OperatorError` or `RunError` when the database cannot be opened.
    public init(database path: String) throws {
        database = try Database.open(path, as: .guest)
    }

    /// That of a Hark in this process, which is not to be closed.
    init(_ database: Database) { self.database = database }

    public static var states: [String] { OutboxRow.states }

    /// Some rows, the newest first.
    public struct Listing: Sendable {
        let rows: [OutboxRow]

        /// What `hark queue list --json` prints.
        public var json: JSONText { .object([("pushes", .array(rows.map(\.json)))]) }
        /// With the headings, for a table; empty when there are no rows.
        public var cells: [[String]] { rows.isEmpty ? [] : [OutboxRow.headings] + rows.map(\.cells) }
    }

    /// What came of asking for a row to be sent again, or not any more.
    public struct Answer: Sendable {
        public let id: Int64
        public let isDone: Bool
        /// What it is now, or why nothing was done.
        public let text: String

        init(_ id: Int64, _ outcome: OutboxRetry) {
            self.id = id
            isDone = outcome == .due
            text =
                switch outcome {
                case .due: "due"
                case .noSuchRow: Self.noSuchPush
                case .inState(let state): Self.isAlready(state)
                case .tokenIsGone: "its device is gone"
                }
        }

        init(_ id: Int64, _ outcome: OutboxDrop) {
            self.id = id
            isDone = outcome == .dropped
            text =
                switch outcome {
                case .dropped: "dropped"
                case .noSuchRow: Self.noSuchPush
                case .inState(let state): Self.isAlready(state)
                }
        }

        /// Of a row for which nothing was done.
        public var json: JSONText { .object([("id", .integer(Int(id))), ("reason", .string(text))]) }

        private static let noSuchPush = "there is no such push"

        private static func isAlready(_ state: String) -> String {
            state == "running" ? "it is being sent" : "it is \(state) already"
        }
    }

    /// The newest rows, of one state or one recipient where these are given.
    public func list(state: String?, did: String?, limit: Int) throws -> Listing {
        Listing(rows: try database.read { try $0.outboxRows(state: state, did: did, limit: limit) })
    }

    /// Makes rows due now; a running Hark sends them within seconds. `lifetime` is what an expired one gets.
    /// - Returns: for each id what came of it, in their order.
    public func retry(_ ids: [Int64], lifetime: Duration) async throws -> [Answer] {
        let now = Int64(Date.now.timeIntervalSince1970 * 1000)
        let milliseconds = lifetime.components.seconds * 1000
        var outcomes: [Answer] = []
        for start in stride(from: 0, to: ids.count, by: Self.step) {
            let batch = Array(ids[start..<min(start + Self.step, ids.count)])
            outcomes += try await database.write { transaction in
                try batch.map { Answer($0, try transaction.retryPush($0, now: now, lifetime: milliseconds)) }
            }
        }
        return outcomes
    }

    /// Makes every dead row due whose device is still there; returns how many there were.
    public func retryDead(lifetime: Duration) async throws -> Int {
        var last: Int64 = 0
        var count = 0
        while true {
            let after = last
            let ids = try await database.write { try $0.deadPushes(after: after, limit: Self.step) }
            guard let newest = ids.last else { return count }
            last = newest
            count += try await retry(ids, lifetime: lifetime).count { $0.isDone }
        }
    }

    /// Gives up dead and waiting rows for good.
    /// - Returns: for each id what came of it, in their order.
    public func drop(_ ids: [Int64]) async throws -> [Answer] {
        let now = Int64(Date.now.timeIntervalSince1970 * 1000)
        var outcomes: [Answer] = []
        for start in stride(from: 0, to: ids.count, by: Self.step) {
            let batch = Array(ids[start..<min(start + Self.step, ids.count)])
            outcomes += try await database.write { transaction in
                try batch.map { Answer($0, try transaction.dropPush($0, now: now)) }
            }
        }
        return outcomes
    }

    /// Gives up every dead row; returns how many there were.
    public func dropDead() async throws -> Int {
        var count = 0
        while true {
            let dropped = try await database.write { try $0.dropDeadPushes(limit: Self.step) }
            count += dropped
            if dropped < Self.step { return count }
        }
    }

    /// Why the record at `uri` did notify, or did not, and whom.
    ///
    /// - Parameter hooks: those that this Hark has.
    /// - Throws: an `OperatorError` when `uri` is no record's.
    public func explain(_ uri: String, hooks: [Hook]) throws -> PushExplanation {
        guard let parsed = try? ATURI(uri), let collection = parsed.collection, parsed.rkey != nil else {
            throw OperatorError("\"\(uri)\" is no record's address, such as at://did:plc:…/social.grain.favorite/3k…")
        }
        let matching = hooks.filter { $0.trigger.matches(collection.description) }.map(\.name)
        return try database.read { connection in
            PushExplanation(
                uri: uri, collection: collection.description,
                record: try connection.trace(of: uri, collection: collection.description), matchingHooks: matching,
                rows: try connection.outboxRows(uri: uri, limit: PushExplanation.limit).reversed(),
                notes: try connection.outboxNotes(uri: uri))
        }
    }

    public func close() { database.close() }
}

extension Configuration {
    /// How long a push that is sent again is tried.
    public var pushLifetime: Duration { (push?.tuning ?? PushTuning()).lifetime }
}
