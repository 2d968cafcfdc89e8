import HookKit

/// Reports what of a source cannot be used: for each reason the first cases one by one, and at the end how many there
/// were. A file of a million broken lines must not make a log of a million. Confined to the decoding thread.
final class ProblemReport {
    /// Cases of one reason that are reported one by one.
    static let limit = 20

    private let source: String
    private let emit: Emit
    private var counts: [String: Int] = [:]

    init(source: String, emit: Emit) {
        self.source = source
        self.emit = emit
    }

    /// One case: `op` is what the log calls it, `fields` say where it is and what is wrong.
    func add(_ op: String, reason: String, _ fields: @autoclosure () -> Emit.Fields) {
        let count = counts[reason, default: 0] + 1
        counts[reason] = count
        if count <= Self.limit { emit("indexer", op, fields()) }
    }

    /// The source has ended: says of each reason that had more cases how many there were. Begins anew.
    func finish() {
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) where count > Self.limit {
            emit(
                "indexer", "more",
                ["source": source, "reason": reason, "count": "\(count)", "reported": "\(Self.limit)"])
        }
        counts = [:]
    }
}
