import ATProto
import Dispatch
import FoundationEssentials
import HookKit
import Indexer
import Push
import Storage
import XRPC

/// What the operator's page at `/_admin` shows and does, of a Hark that serves.
///
/// Works on a thread of its own, on which reads go one at a time: a search that takes long keeps neither the runtime's
/// threads nor the database's readers from hooks and devices.
actor OperatorDesk: AdminDesk {
    private static let shownDead = 10
    private static let shownWaiting = 10
    private static let shownOlderDead = 50
    private static let shownDevices = 100

    private let figures: ServingFigures
    private let queue: PushQueue
    private let hooks: [Hook]
    private let did: String
    private let lifetime: Duration
    private let start = Date.now
    private let executor = DeskExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter lifetime: of a push that is sent again after its time was over.
    init(_ figures: ServingFigures, hooks: [Hook], did: String, lifetime: Duration) {
        self.figures = figures
        self.hooks = hooks
        self.did = did
        self.lifetime = lifetime
        queue = PushQueue(figures.assembly.database)
    }

    private var assembly: Assembly { figures.assembly }

    // MARK: Seeing

    func overview() async throws -> [UInt8] {
        let channels = await assembly.push?.channelFigures() ?? []
        let reading = try figures.read()
        let (dead, waiting) = try assembly.database.read {
            (try $0.deadLetters(limit: Self.shownDead), try $0.waitingPushes(limit: Self.shownWaiting))
        }
        let summary = assembly.indexer.summary
        let (sends, ends) = assembly.push?.outcomes.sendsAndEnds ?? ([], [])
        return json([
            ("did", .string(did)), ("version", .string(figures.version)), ("started", .string(Self.text(start))),
            ("push", .bool(assembly.push != nil)), ("source", Self.source(reading)), ("counts", Self.counts(summary)),
            (
                "skipped",
                .array(
                    summary.skipped.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                        .object([("reason", .string($0.key)), ("count", .integer($0.value))])
                    })
            ),
            ("hooks", .array(hookListings())), ("queue", Self.depth(reading)),
            ("dead", .array(dead.map(\.json))), ("waiting", .array(waiting.map(\.json))),
            (
                "sends",
                .array(
                    sends.map {
                        .object([
                            ("result", .string($0.key.outcome)), ("reason", .string($0.key.reason)),
                            ("count", .integer($0.count)),
                        ])
                    })
            ),
            (
                "outcomes",
                .array(
                    ends.map {
                        .object([
                            ("channel", .string("apns")), ("outcome", .string($0.key.outcome)),
                            ("reason", .string($0.key.reason)), ("count", .integer($0.count)),
                        ])
                    })
            ),
            (
                "connections",
                .array(
                    channels.map {
                        .object([
                            ("channel", .string($0.channel)), ("connections", .integer($0.connections)),
                            ("streams", .integer($0.streams)),
                        ])
                    })
            ),
        ])
    }

    func deadLetters(before id: Int64?) async throws -> [UInt8] {
        let rows = try assembly.database.read { try $0.deadLetters(before: id, limit: Self.shownOlderDead) }
        return json([("pushes", .array(rows.map(\.json)))])
    }

    func devices(did: String, after place: String?) async throws -> [UInt8] {
        let last = try Self.place(place)
        let (devices, counts) = try assembly.database.read {
            (try $0.devices(didPrefix: did, after: last, limit: Self.shownDevices), try $0.deviceCounts())
        }
        let next = devices.count == Self.shownDevices ? devices.last.map { "\($0.id) \($0.did)" } : nil
        return json([
            (
                "total",
                .object([("devices", .integer(counts.devices)), ("accounts", .integer(counts.accounts))])
            ),
            ("devices", .array(devices.map(\.json))), ("next", .optional(next)),
        ])
    }

    func explanation(of uri: String) async throws -> [UInt8] {
        do {
            let explanation = try queue.explain(uri, hooks: hooks)
            return json(explanation.members + [("push", .bool(assembly.push != nil))])
        } catch let error as OperatorError {
            throw XRPCError(400, "InvalidRequest", error.description)
        }
    }

    /// A place in the list of devices: `12 did:plc:…`, the last device that was shown.
    private static func place(_ text: String?) throws -> (did: String, id: Int64) {
        guard let text else { return ("", 0) }
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let id = Int64(parts[0]) else {
            throw XRPCError(400, "InvalidRequest", "after is no place in the list of devices")
        }
        return (String(parts[1]), id)
    }

    // MARK: Doing

    func retry(_ selection: AdminSelection) async throws -> [UInt8] {
        let answer =
            switch selection {
            case .allDead: report([], done: try await queue.retryDead(lifetime: lifetime))
            case .ids(let ids): report(try await queue.retry(ids, lifetime: lifetime))
            }
        assembly.push?.wake()
        return answer
    }

    func drop(_ selection: AdminSelection) async throws -> [UInt8] {
        switch selection {
        case .allDead: report([], done: try await queue.dropDead())
        case .ids(let ids): report(try await queue.drop(ids))
        }
    }

    private func report(_ answers: [PushQueue.Answer], done: Int = 0) -> [UInt8] {
        json([
            ("done", .integer(done + answers.count { $0.isDone })),
            ("refused", .array(answers.filter { !$0.isDone }.map(\.json))),
        ])
    }

    private func json(_ members: [(String, JSONText)]) -> [UInt8] { Array(JSONText.object(members).text.utf8) }
}

// MARK: The overview's parts

extension OperatorDesk {
    private static func source(_ reading: ServingFigures.Reading) -> JSONText {
        .object([
            ("name", .optional(reading.position?.source)),
            ("cursor", reading.position.map { .integer(Int($0.position)) } ?? .null), ("lag", .null),
            ("updatedAt", .optional(reading.position?.updatedAt)),
        ])
    }

    private static func counts(_ summary: IndexSummary) -> JSONText {
        .object([
            ("events", .integer(summary.events)), ("commits", .integer(summary.commits)),
            ("ops", .integer(summary.ops)),
            ("created", .integer(summary.created)), ("updated", .integer(summary.updated)),
            ("deleted", .integer(summary.deleted)),
        ])
    }

    private static func depth(_ reading: ServingFigures.Reading) -> JSONText {
        .object([
            ("due", .integer(reading.depth.due)), ("retry", .integer(reading.depth.retry)),
            ("running", .integer(reading.depth.running)), ("dead", .integer(reading.depth.dead)),
            ("oldest", .integer(reading.oldest)),
        ])
    }

    private func hookListings() -> [JSONText] {
        let figures = figures.assembly.indexer.hookFigures
        return hooks.sorted { $0.name < $1.name }.map { hook in
            let figures = figures[hook.name] ?? HookFigures()
            let mean = figures.runs > 0 ? figures.time / figures.runs : .zero
            return .object([
                ("name", .string(hook.name)), ("collections", .array(hook.collections.map { .string($0) })),
                ("runs", .integer(figures.runs)), ("errors", .integer(figures.errors)),
                ("meanMilliseconds", .number(mean / .milliseconds(1))),
                ("longestMilliseconds", .number(figures.longest / .milliseconds(1))),
                ("lastError", figures.lastFailure.map(Self.failure) ?? .null),
            ])
        }
    }

    private static func failure(_ failure: HookFigures.Failure) -> JSONText {
        .object([
            ("at", .string(text(Date(timeIntervalSince1970: Double(failure.time) / 1000)))),
            ("uri", .string(failure.uri)), ("error", .string(failure.error)),
        ])
    }

    private static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension DeviceListing {
    fileprivate var json: JSONText {
        .object([
            ("id", .integer(Int(id))), ("did", .string(did)), ("platform", .string(platform)),
            ("environment", .string(environment)), ("topic", .optional(topic)), ("label", .optional(label)),
            ("tokenSuffix", .string(tokenSuffix)), ("createdAt", .string(createdAt)),
            ("lastSeenAt", .string(lastSeenAt)), ("failedAt", .optional(failedAt)), ("failure", .optional(failure)),
        ])
    }
}

/// One job at a time, on a thread that may wait.
private final class DeskExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "hark.operator")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
