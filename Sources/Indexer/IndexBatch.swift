import ATProto
import HookKit
import Storage

/// Turns decoded events into a batch of row changes: looks up tables, validates, and prepares what the writer binds.
/// Confined to the decoding thread.
struct IndexBatch {
    private(set) var records = RecordBatch()
    /// What the events of this batch add to the summary, apart from what only the writer knows.
    private(set) var counts = IndexSummary()
    /// Roughly the bytes that the batch holds.
    private(set) var weight = 0

    private let context: Context

    /// What stays the same from batch to batch.
    final class Context {
        let schema: RecordSchema
        let lexicons: Lexicons
        let hooks: [Hook]
        let source: String
        let problems: ProblemReport
        private var collections: [String: Collection] = [:]

        struct Collection {
            let table: RecordTable?
            let wanted: Bool
        }

        init(schema: RecordSchema, lexicons: Lexicons, hooks: [Hook], source: String, emit: Emit) {
            self.schema = schema
            self.lexicons = lexicons
            self.hooks = hooks
            self.source = source
            problems = ProblemReport(source: source, emit: emit)
        }

        func collection(_ name: String) -> Collection {
            if let known = collections[name] { return known }
            let made = Collection(
                table: schema.table(for: name), wanted: hooks.contains { $0.trigger.matches(name) })
            collections[name] = made
            return made
        }
    }

    init(_ context: Context) { self.context = context }

    var isEmpty: Bool { records.changes.isEmpty && records.repos.isEmpty && counts.events == 0 }

    /// - Parameter wanted: false when no hook is to be told.
    mutating func add(_ event: Event, live: Bool, wanted: Bool, now: Int64) {
        counts.events += 1
        switch event {
        case .commit(let commit): add(commit, live: live, wanted: wanted, now: now)
        case .identity(let update):
            records.repos.append(RepoUpdate(did: update.did.description, handle: update.handle?.description))
        case .account(let update):
            let status = update.active ? "active" : update.status ?? "inactive"
            records.repos.append(RepoUpdate(did: update.did.description, status: status))
        case .sync: counts.skip("sync")
        case .info: counts.skip("info")
        case .error(let name, let message):
            counts.skip("error-frame")
            context.problems.add(
                "error-frame", reason: "error-frame",
                ["source": context.source, "name": name, "message": message ?? ""])
        }
    }

    mutating func addUndecodable(_ message: String, at position: String) {
        counts.events += 1
        counts.skip("malformed")
        context.problems.add(
            "malformed", reason: "malformed", ["source": context.source, "at": position, "error": message])
    }

    mutating func setCursor(source: String, position: Int64) {
        records.cursor = (source, position)
    }

    mutating func stamp(_ now: Int64) { records.now = now }

    private mutating func add(_ commit: Commit, live: Bool, wanted: Bool, now: Int64) {
        counts.commits += 1
        counts.ops += commit.ops.count + commit.dropped.count + commit.ignoredOps
        counts.skip("not-kept", commit.ignoredOps)
        let did = commit.repo.description
        for dropped in commit.dropped {
            counts.skip(dropped.reason.rawValue)
            context.problems.add(
                "dropped", reason: dropped.reason.rawValue,
                ["repo": did, "path": dropped.path, "reason": dropped.reason.rawValue, "error": dropped.message])
        }
        let rev = commit.rev.description
        let time = commit.timeMicroseconds ?? now * 1000
        for op in commit.ops { add(op, did: did, rev: rev, time: time, live: live, wanted: wanted) }
    }

    private mutating func add(
        _ op: RecordOp, did: String, rev: String, time: Int64, live: Bool, wanted: Bool
    ) {
        let name = op.collection.description
        let collection = context.collection(name)
        guard let table = collection.table else { return counts.skip("not-kept") }
        let rkey = op.rkey.description
        if let record = op.record, let violation = context.lexicons.validate(record, as: op.collection) {
            counts.skip(violation.reason.rawValue)
            context.problems.add(
                "invalid", reason: violation.reason.rawValue,
                [
                    "uri": "at://\(did)/\(name)/\(rkey)", "reason": violation.reason.rawValue,
                    "error": violation.description,
                ])
            return
        }
        let json = op.record.map { JSON.encode($0) } ?? []
        weight += json.count + 256
        records.changes.append(
            RecordChange(
                action: op.action, table: table, did: did, rkey: rkey, rev: rev,
                cid: op.cid?.description, json: json, columns: op.record.map { table.columns(of: $0) } ?? [],
                timeMicroseconds: time, live: live, wanted: wanted && collection.wanted))
    }
}
