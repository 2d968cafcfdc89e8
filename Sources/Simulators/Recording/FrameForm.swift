import ATProto

/// The evening as a relay sends it: messages of `com.atproto.sync.subscribeRepos`, each behind its length, with
/// commits that are really signed and the repo's tree after each.
struct FrameForm: EveningForm {
    private let cast: EveningCast
    private let plain: Bool
    private var repos: [Int: EveningRepo] = [:]
    private var recent = RecentEvents<[UInt8]>()

    init(cast: EveningCast, plain: Bool) {
        self.cast = cast
        self.plain = plain
    }

    /// Appends the frame of `event` behind its length in bytes, an unsigned 32-bit little-endian number.
    mutating func append(_ event: EveningEvent, to output: inout [UInt8]) {
        guard let frame = frame(of: event) else { return }
        for shift in stride(from: 0, to: 32, by: 8) {
            output.append(UInt8(truncatingIfNeeded: frame.count >> shift))
        }
        output += frame
    }

    private mutating func frame(of event: EveningEvent) -> [UInt8]? {
        switch event.kind {
        case .commit(let commit):
            let change = repos[commit.author, default: EveningRepo(cast.people[commit.author])].apply(commit)
            let frame = Self.frame(of: change, event)
            if !plain { recent.keep(frame, of: event) }
            return frame
        case .identity(let did, let handle):
            return Self.frame("#identity", event, [("did", .string(did)), ("handle", handle.map(Value.string))])
        case .account(let did, let status):
            return Self.frame(
                "#account", event,
                [("did", .string(did)), ("active", .bool(status == nil)), ("status", status.map(Value.string))])
        case .again(let index): return recent[index]
        case .broken(let commit, .truncated):
            var repo = repos[commit.author] ?? EveningRepo(cast.people[commit.author])
            return Array(Self.frame(of: repo.apply(commit), event).dropLast(200))
        case .broken(_, .garbage(let bytes)): return bytes
        case .blankLine: return nil
        }
    }

    private static func frame(of change: EveningRepo.Change, _ event: EveningEvent) -> [UInt8] {
        frame(
            "#commit", event,
            [
                ("repo", .string(change.commit.did.description)), ("rev", .string(change.commit.rev.description)),
                ("since", change.since.map { .string($0.description) } ?? .null),
                ("commit", .link(change.commit.cid)), ("prevData", change.previousData.map(Value.link)),
                ("blocks", .bytes(change.archive)), ("ops", .array(change.ops)), ("blobs", .array([])),
                ("rebase", .bool(false)), ("tooBig", .bool(false)),
            ])
    }

    /// A header and a body, with what every body has.
    private static func frame(_ type: String, _ event: EveningEvent, _ body: [(String, Value?)]) -> [UInt8] {
        let header = RecordDraft.map([("op", .integer(1)), ("t", .string(type))])
        let common: [(String, Value?)] = [
            ("seq", .integer(event.seq)), ("time", .string(datetimeText(event.time))),
        ]
        return DAGCBOR.encode(header) + DAGCBOR.encode(RecordDraft.map(common + body))
    }
}
