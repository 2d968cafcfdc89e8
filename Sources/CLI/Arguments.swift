import Runtime

/// A flag that a command takes.
struct Option: Sendable {
    /// With its dashes: `--config`.
    var name: String
    /// What stands for its value in the usage; nil for a flag without one.
    var value: String?
    var help: String
    /// May stand several times; its values keep their order.
    var repeats = false

    static let config = Option(
        name: "--config", value: "FILE", help: "the configuration (default: hark.json5, where there is one)")
    static let database = Option(
        name: "--database", value: "FILE", help: "the database (default: the configuration's, or hark.db)")
    static let json = Option(name: "--json", value: nil, help: "print one JSON object and nothing else")
    static let help = Option(name: "--help", value: nil, help: "print this")
}

/// What a command takes besides flags.
enum Operands: Sendable {
    case none
    /// Exactly one, named so in the usage.
    case one(String)
    case oneOrMore(String)
    /// None, too.
    case any(String)
}

/// A command's flags and operands, as they were given.
struct Arguments: Sendable {
    private(set) var flags: [(name: String, value: String)] = []
    private(set) var operands: [String] = []

    /// The value of a flag that was given.
    subscript(name: String) -> String? { flags.last { $0.name == name }?.value }

    func has(_ name: String) -> Bool { flags.contains { $0.name == name } }

    /// The value of a flag without which the command makes no sense.
    func required(_ option: Option) throws(OperatorError) -> String {
        guard let value = self[option.name] else {
            throw OperatorError("\(option.name) \(option.value ?? "") is missing: \(option.help)")
        }
        return value
    }

    /// Reads the words that follow a command's name. `--name value` and `--name=value` mean the same; `--` ends the flags.
    ///
    /// - Throws: an `OperatorError` of one line for whatever the command does not take.
    init(_ words: some Sequence<String>, for command: Command) throws(OperatorError) {
        var words = Array(words)[...]
        var flagsAreOver = false
        while let word = words.popFirst() {
            if flagsAreOver || !word.hasPrefix("-") || word == "-" {
                operands.append(word)
            } else if word == "--" {
                flagsAreOver = true
            } else {
                try takeFlag(word, &words, for: command)
            }
        }
        if !has(Option.help.name) { try checkOperands(of: command) }
    }

    private mutating func takeFlag(
        _ word: String, _ words: inout ArraySlice<String>, for command: Command
    ) throws(OperatorError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0] == "-h" ? Option.help.name : String(parts[0])
        guard let option = command.allOptions.first(where: { $0.name == name }) else {
            throw OperatorError("unknown flag \(name)\(Self.mend(name, for: command))")
        }
        guard option.repeats || !has(name) else { throw OperatorError("\(name) is given twice") }
        guard let placeholder = option.value else {
            guard parts.count == 1 else { throw OperatorError("\(name) takes no value") }
            flags.append((name, ""))
            return
        }
        // A value may begin with a single dash, but a flag in its place means that the value was forgotten.
        let isForgotten = words.first.map { next in command.allOptions.contains { $0.name == next } } ?? true
        guard let value = parts.count == 2 ? String(parts[1]) : isForgotten ? nil : words.popFirst(), !value.isEmpty
        else { throw OperatorError("\(name) needs a value: \(name) \(placeholder)") }
        flags.append((name, value))
    }

    private func checkOperands(of command: Command) throws(OperatorError) {
        switch command.operands {
        case .none:
            if let surplus = operands.first { throw OperatorError("\(command.name) takes no \"\(surplus)\"") }
        case .one(let name):
            if operands.isEmpty { throw OperatorError("\(command.name) needs \(name)") }
            if operands.count > 1 { throw OperatorError("\(command.name) takes one \(name) only") }
        case .any: break
        case .oneOrMore(let name):
            if operands.isEmpty { throw OperatorError("\(command.name) needs a \(name)") }
        }
    }

    private static func mend(_ name: String, for command: Command) -> String {
        if let nearest = command.allOptions.map(\.name).nearest(to: name) { return ": did you mean \(nearest)?" }
        return ": \"hark help \(command.name)\" lists those that \(command.name) takes"
    }
}

extension Arguments {
    /// The configuration that the flags name, with the flags' own settings in it.
    ///
    /// - Throws: `FileError` or `ConfigurationError`.
    func configuration() throws -> Configuration {
        var configuration = try Configuration.load(
            file: self[Option.config.name], environment: Environment.variables)
        if let database = self[Option.database.name] { configuration.database = database }
        return configuration
    }
}
