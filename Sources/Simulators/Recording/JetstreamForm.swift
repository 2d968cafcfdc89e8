import ATProto

/// The evening as a Jetstream (v1) sends it: a JSON object an event, or rather an op, on a line of its own.
struct JetstreamForm: EveningForm {
    private let cast: EveningCast
    private let plain: Bool
    private var recent = RecentEvents<[UInt8]>()

    init(cast: EveningCast, plain: Bool) {
        self.cast = cast
        self.plain = plain
    }

    /// Appends the lines of `event`, each with its line feed.
    mutating func append(_ event: EveningEvent, to output: inout [UInt8]) {
        let start = output.count
        switch event.kind {
        case .commit(let commit):
            append(commit, of: event, to: &output)
            if !plain { recent.keep(Array(output[start...]), of: event) }
        case .identity(let did, let handle):
            append(head: did, event.time, "identity", to: &output)
            output += #","identity":{"did":"\#(did)""#.utf8
            if let handle { output += #","handle":"\#(handle)""#.utf8 }
            appendTail(of: event, status: nil, to: &output)
        case .account(let did, let status):
            append(head: did, event.time, "account", to: &output)
            output += #","account":{"active":\#(status == nil),"did":"\#(did)""#.utf8
            appendTail(of: event, status: status, to: &output)
        case .again(let index): output += recent[index] ?? []
        case .broken(let commit, .truncated):
            append(commit, of: event, to: &output)
            output.removeLast((output.count - start) / 3)
            output.append(UInt8(ascii: "\n"))
        case .broken(_, .garbage(let bytes)):
            output += bytes
            output.append(UInt8(ascii: "\n"))
        case .blankLine: output.append(UInt8(ascii: "\n"))
        }
    }

    private func append(head did: String, _ time: Int64, _ kind: String, to output: inout [UInt8]) {
        output += #"{"did":"\#(did)","time_us":\#(time),"kind":"\#(kind)""#.utf8
    }

    private func appendTail(of event: EveningEvent, status: String?, to output: inout [UInt8]) {
        output += #","seq":\#(event.seq)"#.utf8
        if let status { output += #","status":"\#(status)""#.utf8 }
        output += ",\"time\":\"\(datetimeText(event.time))\"}}\n".utf8
    }

    private func append(_ commit: EveningCommit, of event: EveningEvent, to output: inout [UInt8]) {
        for (index, op) in commit.ops.enumerated() {
            append(head: commit.did, event.time + Int64(index), "commit", to: &output)
            output += #","commit":{"rev":"\#(commit.rev)","operation":"\#(op.action.rawValue)""#.utf8
            output += #","collection":"\#(op.collection.rawValue)","rkey":"\#(op.rkey)""#.utf8
            if let block = RecordBlock(op) {
                if let shipped = block.shippedValue {
                    output += #","record":"#.utf8
                    let start = output.count
                    // Some servers escape everything beyond ASCII; a reader must take both.
                    let text = JetstreamJSON(escapesBeyondASCII: !plain && event.index % 16 == 7)
                    text.append(shipped, to: &output)
                    block.breakText(in: &output, from: start)
                }
                output += #","cid":"\#(block.cid)""#.utf8
            }
            output += "}}\n".utf8
        }
    }
}
