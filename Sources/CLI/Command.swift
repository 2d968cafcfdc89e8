import Runtime

/// One of Hark's commands: how it is called and what it does.
struct Command: Sendable {
    /// One word or two: `replay`, `tokens add`.
    var name: String
    /// For the list of commands; a line.
    var summary: String
    var operands = Operands.none
    var options: [Option] = []
    /// Further lines of its help.
    var notes: [String] = []
    /// Does it. Throws an `OperatorError` or its kin for exit code 2, anything else for 1.
    var run: @Sendable (Arguments) async throws -> Void

    static let all: [Command] = [
        .demo, .replay, .serve, .check, .tokensAdd, .tokensList, .tokensRemove,
        .settingsShow, .settingsPush, .settingsFrom, .settingsForget,
        .pushSend, .queueList, .queueRetry, .queueDrop, .queueExplain, .simulateAPNs, .simulatePLC, .simulateRecording,
    ]

    var allOptions: [Option] { options + [.help] }

    /// `hark tokens add --did DID [--label TEXT]`, without the flags that every command has.
    var call: String {
        switch operands {
        case .none: "hark \(name)"
        case .one(let operand): "hark \(name) \(operand)"
        case .oneOrMore(let operand): "hark \(name) \(operand)…"
        case .any(let operand): "hark \(name) [\(operand)…]"
        }
    }

    var usage: String {
        let rows = allOptions.map { ("\($0.name)\($0.value.map { " " + $0 } ?? "")", $0.help) }
        var lines = ["\(call) [flags]", "", summary, ""] + Self.columns(rows)
        if !notes.isEmpty { lines += [""] + notes }
        return lines.joined(separator: "\n")
    }

    /// The whole program's help.
    static var overview: String {
        let rows = all.map { ($0.call, $0.summary) } + [("hark help [COMMAND]", "say how a command is used")]
        return
            (["Hark \(Version.current): hooks on the AT Protocol's firehose, and pushes to phones.", ""]
            + columns(rows)
            + ["", "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration."]).joined(separator: "\n")
    }

    /// Finds the command that `words` begin with, and how many words its name took.
    ///
    /// - Throws: an `OperatorError` of one line when there is none.
    static func find(_ words: [String]) throws(OperatorError) -> (command: Command, words: Int) {
        guard let first = words.first else { throw OperatorError("no command given: \"hark help\" lists them") }
        if let command = all.first(where: { $0.name == words.prefix(2).joined(separator: " ") }), words.count > 1 {
            return (command, 2)
        }
        if let command = all.first(where: { $0.name == first }) { return (command, 1) }
        let group = all.map(\.name).filter { $0.hasPrefix(first + " ") }
        guard group.isEmpty else {
            let list = group.map { "\"hark \($0)\"" }.joined(separator: ", ")
            let given = words.count > 1 ? "\(first) \(words[1])" : first
            throw OperatorError("unknown command \"\(given)\": there are \(list)")
        }
        let names = Set(all.compactMap { $0.name.split(separator: " ").first.map(String.init) } + ["help"])
        let mend = names.sorted().nearest(to: first).map { "did you mean \($0)?" } ?? "\"hark help\" lists them"
        throw OperatorError("unknown command \"\(first)\": \(mend)")
    }

    private static func columns(_ rows: [(String, String)]) -> [String] {
        let width = rows.map { $0.0.count }.max() ?? 0
        return rows.map { "  \($0.0)\(String(repeating: " ", count: width - $0.0.count))  \($0.1)" }
    }
}

enum Version {
    static let current = "0.1.0"
}
