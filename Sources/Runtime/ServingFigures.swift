import FoundationEssentials
import Indexer
import Push
import Storage
import XRPC

/// What operators see of a Hark that serves: health as JSON, and figures for Prometheus.
///
/// Labels are actions, reasons, states and the names of hooks, never a DID or a token.
struct ServingFigures: Sendable {
    let assembly: Assembly
    let version: String

    init(_ assembly: Assembly, version: String) {
        self.assembly = assembly
        self.version = version
    }

    /// What the database says of queue and source at one moment.
    struct Reading: Sendable {
        var depth: OutboxDepth
        var position: SourcePosition?
        /// Milliseconds since 1970.
        var now: Int64

        init(_ connection: Connection) throws {
            now = Int64(Date.now.timeIntervalSince1970 * 1000)
            depth = try connection.outboxDepth(now: now)
            position = try connection.latestPosition()
        }

        /// Seconds that the row has been due that has been so for longest.
        var oldest: Int { depth.nextDue.map { Int(max(now - $0, 0) / 1000) } ?? 0 }
    }

    /// Waits on the calling thread.
    func read() throws -> Reading { try assembly.database.read { try Reading($0) } }

    /// Nil when the database does not answer.
    private func reading() async -> Reading? { try? await assembly.database.reading { try Reading($0) } }

    // MARK: Health

    /// Well while the database answers. Without credentials `channels` is empty: such a server sends nothing.
    func health() async -> (isWell: Bool, json: [UInt8]) {
        let reading = await reading()
        let queue = reading.map { reading in
            JSONText.object([
                ("due", .integer(reading.depth.due)), ("retry", .integer(reading.depth.retry)),
                ("dead", .integer(reading.depth.dead)), ("oldest", .integer(reading.oldest)),
            ])
        }
        let report = JSONText.object([
            ("ok", .bool(reading != nil)), ("version", .string(version)),
            ("channels", .array(assembly.channels.map { .string($0) })), ("source", Self.source(reading?.position)),
            ("queue", queue ?? .null),
        ])
        return (reading != nil, Array(report.text.utf8))
    }

    /// How far events have been read. Nobody follows a live source here, so that nothing can be said of a lag.
    private static func source(_ position: SourcePosition?) -> JSONText {
        .object([("cursor", position.map { .integer(Int($0.position)) } ?? .null), ("lag", .null)])
    }

    // MARK: Figures

    func add(to metrics: inout MetricsText) async {
        metrics.gauge("hark_info", "This program's version.", [.init(1, ["version": version])])
        addIndexing(to: &metrics)
        addHooks(to: &metrics)
        await addPush(to: &metrics)
        guard let reading = await reading() else { return }
        if let position = reading.position {
            metrics.gauge(
                "hark_source_cursor", "How far the source that was read last has been read, in its own measure.",
                Int(position.position))
        }
        let depth = reading.depth
        metrics.gauge(
            "hark_push_queue", "Rows of the outbox by state.",
            [
                .init(depth.due, ["state": "due"]), .init(depth.retry, ["state": "retry"]),
                .init(depth.running, ["state": "running"]),
                .init(depth.dead, ["state": "dead"]),
            ])
        metrics.gauge(
            "hark_push_oldest_seconds", "How long the row has been due that has been so for longest.", reading.oldest)
    }

    private func addIndexing(to metrics: inout MetricsText) {
        let summary = assembly.indexer.summary
        metrics.counter("hark_events_total", "Messages read.", summary.events)
        metrics.counter("hark_commits_total", "Commits read.", summary.commits)
        metrics.counter("hark_ops_total", "Creates, updates and deletes read.", summary.ops)
        metrics.counter(
            "hark_records_total", "Records by what was done to them.",
            [
                .init(summary.created, ["action": "created"]), .init(summary.updated, ["action": "updated"]),
                .init(summary.deleted, ["action": "deleted"]),
            ])
        metrics.counter(
            "hark_skipped_total", "Events and ops that changed nothing, by reason.",
            summary.skipped.sorted { $0.key < $1.key }.map { .init($0.value, ["reason": $0.key]) })
    }

    private func addHooks(to metrics: inout MetricsText) {
        let hooks = assembly.indexer.hookFigures.sorted { $0.key < $1.key }
        metrics.histogram(
            "hark_hook_seconds", "Hook runs, by hook and by how long they took.",
            hooks.map {
                MetricsText.Histogram(
                    labels: ["hook": $0.key], bounds: HookFigures.bounds, classes: $0.value.classes, sum: $0.value.time)
            })
        metrics.counter("hark_hook_runs_total", "Hook runs.", hooks.map { .init($0.value.runs, ["hook": $0.key]) })
        metrics.counter(
            "hark_hook_errors_total", "Hook runs that threw or took too long.",
            hooks.map { .init($0.value.errors, ["hook": $0.key]) })
    }

    private func addPush(to metrics: inout MetricsText) async {
        guard let push = assembly.push else { return }
        let (sends, ends) = push.outcomes.sendsAndEnds
        metrics.counter(
            "hark_push_sends_total", "What hooks' sends came to, a row a device where they were queued.",
            sends.map { .init($0.count, ["result": $0.key.outcome, "reason": $0.key.reason]) })
        metrics.counter(
            "hark_push_outcomes_total", "Attempts and ends of rows, by what came of them.",
            ends.map { .init($0.count, ["channel": "apns", "outcome": $0.key.outcome, "reason": $0.key.reason]) })
        let channels = await push.channelFigures()
        metrics.gauge(
            "hark_push_connections", "Open connections to push services.",
            channels.map { .init($0.connections, ["channel": $0.channel]) })
        metrics.gauge(
            "hark_push_streams", "Pushes that are on the wire, without an answer.",
            channels.map { .init($0.streams, ["channel": $0.channel]) })
        metrics.counter(
            "hark_push_jwt_renewals_total", "Provider tokens made anew.",
            channels.map { .init($0.tokenRenewals, ["channel": $0.channel]) })
    }
}

extension PushOutcomes {
    typealias Series = [(key: Key, count: Int)]

    /// What hooks' sends came to, and what became of rows; each in a stable order.
    var sendsAndEnds: (sends: Series, ends: Series) {
        let all = counts.map { (key: $0.key, count: $0.value) }
            .sorted { ($0.key.outcome, $0.key.reason) < ($1.key.outcome, $1.key.reason) }
        let isEnd = { (outcome: String) in ["sent", "retry", "dead", "expired", "removed"].contains(outcome) }
        return (all.filter { !isEnd($0.key.outcome) }, all.filter { isEnd($0.key.outcome) })
    }
}
