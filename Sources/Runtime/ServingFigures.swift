import ATProto
import FoundationEssentials
import Indexer
import Push
import Storage
import XRPC

/// What operators see of a Hark that serves: health as JSON, and figures in Prometheus' text format.
///
/// Labels are actions, reasons and states, never a DID or a token.
struct ServingFigures: Sendable {
    private let assembly: Assembly
    private let version: String

    init(_ assembly: Assembly, version: String) {
        self.assembly = assembly
        self.version = version
    }

    private var now: Int64 { Int64(Date.now.timeIntervalSince1970 * 1000) }

    private func depth() async throws -> OutboxDepth {
        let now = now
        return try await assembly.database.reading { try $0.outboxDepth(now: now) }
    }

    // MARK: Health

    /// Well while the database answers. Without credentials `channels` is empty: such a server sends nothing.
    func health() async -> (isWell: Bool, report: Value) {
        let channels: [Value] = assembly.push == nil ? [] : [.string("apns")]
        let depth = try? await depth()
        let queue = depth.map { depth in
            Value.object([
                "due": .integer(Int64(depth.due)), "retry": .integer(Int64(depth.retry)),
                "dead": .integer(Int64(depth.dead)), "oldest": .integer(seconds(depth)),
            ])
        }
        let report = Value.object([
            "ok": .bool(depth != nil), "version": .string(version), "channels": .array(channels), "queue": queue,
        ])
        return (depth != nil, report)
    }

    /// How long the row has been due that has been so for longest.
    private func seconds(_ depth: OutboxDepth) -> Int64 { depth.nextDue.map { max(now - $0, 0) / 1000 } ?? 0 }

    // MARK: Figures

    func metrics() async -> String {
        var text = ""
        let summary = assembly.indexer.summary
        Self.add("hark_events_total", "Messages read.", [("", summary.events)], to: &text)
        Self.add("hark_commits_total", "Commits read.", [("", summary.commits)], to: &text)
        let records = [("created", summary.created), ("updated", summary.updated), ("deleted", summary.deleted)]
        Self.add(
            "hark_records_total", "Records by what was done to them.",
            records.map { (Self.labels(("action", $0.0)), $0.1) }, to: &text)
        Self.add(
            "hark_skipped_total", "Events and ops that changed nothing, by reason.",
            summary.skipped.sorted { $0.key < $1.key }.map { (Self.labels(("reason", $0.key)), $0.value) }, to: &text)
        Self.add("hark_hook_runs_total", "Hook runs.", [("", summary.hookRuns)], to: &text)
        Self.add("hark_hook_errors_total", "Hook runs that failed.", [("", summary.hookErrors)], to: &text)
        addOutcomes(to: &text)
        if let depth = try? await depth() {
            let states = [
                ("due", depth.due), ("retry", depth.retry), ("running", depth.running), ("dead", depth.dead),
            ]
            Self.add(
                "hark_push_queue", "Rows of the outbox by state.",
                states.map { (Self.labels(("state", $0.0)), $0.1) }, kind: "gauge", to: &text)
            Self.add(
                "hark_push_oldest_seconds", "How long the row has been due that has been so for longest.",
                [("", Int(seconds(depth)))], kind: "gauge", to: &text)
        }
        return text
    }

    private func addOutcomes(to text: inout String) {
        guard let outcomes = assembly.push?.outcomes.counts else { return }
        let series = outcomes.map { key, count in
            (Self.labels(("channel", "apns"), ("outcome", key.outcome), ("reason", key.reason)), count)
        }
        Self.add(
            "hark_push_outcomes_total", "What became of notifications and their rows.", series.sorted { $0.0 < $1.0 },
            to: &text)
    }

    private static func add(
        _ name: String, _ help: String, _ series: [(labels: String, value: Int)], kind: String = "counter",
        to text: inout String
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for (labels, value) in series { text += "\(name)\(labels) \(value)\n" }
    }

    private static func labels(_ labels: (name: String, value: String)...) -> String {
        "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
