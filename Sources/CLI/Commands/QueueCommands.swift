import Hooks
import Runtime

extension Command {
    static let queueList = Command(
        name: "queue list", summary: "list pushes, the newest first, and what became of them",
        options: [.state, .did, .limit, .json, .config, .database],
        notes: [
            "States: \(PushQueue.states.joined(separator: ", ")).",
            "Of a token only the last 8 characters are shown. Works while another hark runs.",
        ]
    ) { arguments in
        let state = arguments[Option.state.name]
        if let state, !PushQueue.states.contains(state) {
            let mend = PushQueue.states.nearest(to: state).map { "did you mean \($0)?" }
            throw OperatorError(
                "\"\(state)\" is no state of a push: \(mend ?? "there are " + PushQueue.states.joined(separator: ", "))"
            )
        }
        let did = arguments[Option.did.name]
        if let did, !NewDevice.isDID(did) { throw OperatorError("\"\(did)\" is not a DID") }
        let limitText = arguments[Option.limit.name] ?? "50"
        guard let limit = Int(limitText), (1...1_000_000).contains(limit) else {
            throw OperatorError("--limit must be a number from 1 to 1000000, not \"\(limitText)\"")
        }
        let queue = try PushQueue(database: try arguments.configuration().database)
        defer { queue.close() }
        let listing = try queue.list(state: state, did: did, limit: limit)
        let console = Console.shared
        if arguments.has(Option.json.name) { return console.print(listing.json.text) }
        let lines = columns(listing.cells)
        for line in lines.isEmpty ? ["no pushes"] : lines { console.print(line) }
    }

    static let queueRetry = Command(
        name: "queue retry", summary: "send pushes again that are dead, expired or waiting",
        operands: .any("ID"), options: [.dead, .json, .config, .database],
        notes: [
            "Their attempts begin anew. A hark that runs sends them within seconds, another at its next start.",
            "--dead takes every dead push whose device is still registered.",
        ]
    ) { arguments in
        let ids = try Self.pushes(of: arguments, for: "queue retry")
        let configuration = try arguments.configuration()
        let queue = try PushQueue(database: configuration.database)
        defer { queue.close() }
        let lifetime = configuration.pushLifetime
        guard let ids else {
            return try report([], done: try await queue.retryDead(lifetime: lifetime), ("due", "due again"), arguments)
        }
        try report(try await queue.retry(ids, lifetime: lifetime), ("due", "due again"), arguments)
    }

    static let queueDrop = Command(
        name: "queue drop", summary: "give up pushes for good that are dead or waiting",
        operands: .any("ID"), options: [.dead, .json, .config, .database],
        notes: [
            "They stay in the outbox as dropped, so that the same notification is not queued again.",
            "--dead takes every dead push.",
        ]
    ) { arguments in
        let ids = try Self.pushes(of: arguments, for: "queue drop")
        let queue = try PushQueue(database: try arguments.configuration().database)
        defer { queue.close() }
        guard let ids else {
            return try report([], done: try await queue.dropDead(), ("dropped", "dropped"), arguments)
        }
        try report(try await queue.drop(ids), ("dropped", "dropped"), arguments)
    }

    /// The pushes that a command is for; nil for all that are dead.
    private static func pushes(of arguments: Arguments, for command: String) throws -> [Int64]? {
        let isAll = arguments.has(Option.dead.name)
        guard isAll != !arguments.operands.isEmpty else {
            throw OperatorError("\(command) needs either ID… or --dead: \"hark queue list\" shows the ids")
        }
        if isAll { return nil }
        return try arguments.operands.map { text throws(OperatorError) in
            guard let id = Int64(text), id > 0 else {
                throw OperatorError("\"\(text)\" is no push's id: \"hark queue list\" shows them")
            }
            return id
        }
    }

    /// Says how many there were, and why others were not.
    /// - Parameter words: what became of them, as JSON's member and for people.
    private static func report(
        _ answers: [PushQueue.Answer], done: Int = 0, _ words: (name: String, text: String), _ arguments: Arguments
    ) throws {
        let done = done + answers.count { $0.isDone }
        let refused = answers.filter { !$0.isDone }
        let console = Console.shared
        if arguments.has(Option.json.name) {
            let refusals = JSONText.array(refused.map(\.json))
            console.print(JSONText.object([(words.name, .integer(done)), ("refused", refusals)]).text)
        } else {
            console.print("\(done.of("push", "pushes")) \(words.text)")
        }
        if let first = refused.first {
            let more = refused.count > 1 ? " (and \(refused.count - 1) more not)" : ""
            throw RunError(
                "push \(first.id) cannot be \(words.name == "due" ? "sent again" : words.name): \(first.text)\(more)")
        }
    }

    static let queueExplain = Command(
        name: "queue explain", summary: "say why a record did or did not notify, and whom",
        operands: .one("URI"), options: [.json, .config, .database],
        notes: [
            "Tells of pushes and of sends that made none, as long as the configuration's retention.push keeps them."
        ]
    ) { arguments in
        let configuration = try arguments.configuration()
        let queue = try PushQueue(database: configuration.database)
        defer { queue.close() }
        let explanation = try queue.explain(arguments.operands[0], hooks: hooks)
        let console = Console.shared
        if arguments.has(Option.json.name) { return console.print(explanation.json.text) }
        for line in explanation.lines { console.print(line) }
        if configuration.push == nil { console.print("push     off: the configuration has no push section") }
    }

    /// The rows with their columns aligned.
    private static func columns(_ rows: [[String]]) -> [String] {
        let widths = rows.first?.indices.map { column in rows.map { $0[column].count }.max() ?? 0 } ?? []
        return rows.map { row in
            let cells = row.indices.dropLast().map {
                row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count)
            }
            return (cells + row.suffix(1)).joined(separator: "  ")
        }
    }
}

extension Option {
    fileprivate static let state = Option(name: "--state", value: "STATE", help: "those in this state only")
    fileprivate static let did = Option(name: "--did", value: "DID", help: "those of this recipient only")
    fileprivate static let limit = Option(name: "--limit", value: "N", help: "as many at most (default: 50)")
    fileprivate static let dead = Option(name: "--dead", value: nil, help: "all that are dead")
}
