import Storage

/// Why a record did notify, or did not, and whom.
public struct PushExplanation: Sendable {
    static let limit = 1000

    let uri: String
    let collection: String
    let record: RecordTrace
    /// Hooks of this Hark that want the record's collection.
    let matchingHooks: [String]
    let rows: [OutboxRow]
    let notes: [OutboxNote]

    /// Hooks that match or that have left something, in order of name.
    var hookNames: [String] { Set(matchingHooks + rows.map(\.hook) + notes.map(\.hook)).sorted() }

    /// For people, a line a fact.
    public var lines: [String] {
        var lines = ["record   \(uri.printable)", "         \(recordText)"]
        if hookNames.isEmpty { lines.append("hooks    none wants \(collection)") }
        for hook in hookNames {
            lines.append("hook     \(hook.printable): \(summary(of: hook))")
            for row in rows where row.hook == hook { lines.append("         \(row.sentence)") }
            for note in notes where note.hook == hook { lines.append("         \(note.sentence)") }
        }
        return lines
    }

    private var recordText: String {
        if let rev = record.rev { return "stored, rev \(rev), indexed at \(record.indexedAt ?? "an unknown time")" }
        if let rev = record.deletedIn { return "deleted in rev \(rev)" }
        return "not stored: never seen, not kept, refused, or deleted"
    }

    private func summary(of hook: String) -> String {
        let pushes = rows.count { $0.hook == hook }
        if pushes > 0 { return pushes == 1 ? "1 push" : "\(pushes) pushes" }
        if notes.contains(where: { $0.hook == hook }) { return "nothing queued" }
        if record.isPending { return "has not run to its end yet" }
        if record.rev == nil, record.deletedIn == nil { return "has not run" }
        return "nothing is known of its run: the record came in a repo export, before the hook or push was there, "
            + "or longer ago than the notes are kept"
    }

    /// What `hark queue explain --json` prints.
    public var json: JSONText { .object(members) }

    var members: [(String, JSONText)] {
        [
            ("uri", .string(uri)), ("collection", .string(collection)), ("text", .string(recordText)),
            (
                "record",
                .object([
                    ("stored", .bool(record.rev != nil)), ("rev", .optional(record.rev ?? record.deletedIn)),
                    ("deleted", .bool(record.rev == nil && record.deletedIn != nil)),
                    ("indexedAt", .optional(record.indexedAt)),
                ])
            ),
            ("pending", .bool(record.isPending)), ("hooks", .array(hookNames.map { json(of: $0) })),
        ]
    }

    private func json(of hook: String) -> JSONText {
        .object([
            ("name", .string(hook)), ("matches", .bool(matchingHooks.contains(hook))),
            ("summary", .string(summary(of: hook))),
            ("pushes", .array(rows.filter { $0.hook == hook }.map(\.json))),
            ("notes", .array(notes.filter { $0.hook == hook }.map(\.json))),
        ])
    }
}

extension OutboxNote {
    /// `did:plc:x: no device is registered, 2026-07-04T…`
    var sentence: String {
        "\(did.map { "to \($0.printable): " } ?? "")\(meaning), at \(timeText)"
    }

    private var meaning: String {
        switch reason {
        case let reason where reason.hasPrefix("\(Self.silent): "):
            "the hook ran for this \(reason.dropFirst(Self.silent.utf8.count + 2)) and sent nothing: "
                + "whom to tell, and whether of an own act, is the hook's decision"
        case Self.noToken: "no device is registered"
        case Self.deduplicated: "deduplicated: queued before, for some device at least"
        case Self.tooOld: "too old: the event was older than push.maxAge"
        case Self.turnedOff: "the recipient has turned this off, for the whole account"
        case Self.notFollowed: "not followed: the recipient wants this from people whom they follow alone"
        case Self.followsUnknown:
            "not followed: the recipient wants this from people whom they follow alone, and no follows are stored"
        default: turnedOffType ?? reason.printable
        }
    }

    private var turnedOffType: String? {
        let start = Self.turnedOff + ": "
        guard reason.hasPrefix(start) else { return nil }
        return "the recipient has turned this off, for the type \(reason.dropFirst(start.count).description.printable)"
    }

    var json: JSONText {
        .object([
            ("did", .optional(did)), ("reason", .string(reason)), ("meaning", .string(meaning)),
            ("at", .string(timeText)),
        ])
    }
}

extension OutboxRow {
    private var device: String { tokenSuffix.map { "…\($0.printable)" } ?? "a device that is gone" }

    /// `12 to did:plc:x, …0c463d64: sent at 2026-07-04T…`
    fileprivate var sentence: String { "\(id) to \(did.printable), \(device): \(fate)" }

    /// What became of it, in Apple's words where there are any.
    var fate: String {
        let tries = attempts == 1 ? "1 attempt" : "\(attempts) attempts"
        let answer = error.map { ": \($0.printable)" } ?? ""
        return switch state {
        case "sent": "sent at \(sentAt ?? "")"
        case "running": "being sent"
        case "available", "retry":
            attempts == 0 && error == nil
                ? "waiting since \(createdAt)"
                : "next attempt at \(nextAttemptAt ?? ""), after \(tries)\(answer)"
        case "dropped": "dropped by the operator; its end was at \(failedAt ?? ""), after \(tries)\(answer)"
        default: "\(state) at \(failedAt ?? ""), after \(tries)\(answer)"
        }
    }

    var json: JSONText {
        .object([
            ("id", .integer(Int(id))), ("state", .string(state)), ("did", .string(did)), ("hook", .string(hook)),
            ("uri", .string(uri)), ("rev", .string(rev)), ("suffix", .optional(tokenSuffix)),
            ("environment", .optional(environment)), ("attempts", .integer(attempts)), ("reason", .optional(error)),
            ("fate", .string(fate)),
            ("apnsId", .string(apnsID)), ("createdAt", .string(createdAt)), ("expiresAt", .string(expiresAt)),
            ("nextAttemptAt", .optional(nextAttemptAt)), ("sentAt", .optional(sentAt)),
            ("failedAt", .optional(failedAt)),
        ])
    }

    /// Its cells in the table for people.
    var cells: [String] { ["\(id)", state, did, device, hook, uri, fate].map(\.printable) }
    static let headings = ["id", "state", "did", "token", "hook", "uri", "what became of it"]
}
