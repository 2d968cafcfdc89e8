/// One object of the configuration file, read key by key; what is wrong is collected, not thrown.
///
/// A key that nobody asked for before `finish()` is an unknown key. Reading a wrong value reports it and gives nil.
struct ConfigurationSection {
    /// The path of the section's own key: empty for the file's top level, `push.apns` further in.
    let path: String
    /// Where the section stands, for what is missing from it.
    let line: Int
    private let members: [JSON5.Member]
    private var known: Set<String> = []
    private var order: [String] = []
    private(set) var problems: [ConfigurationProblem] = []

    init(path: String, line: Int, members: [JSON5.Member]) {
        self.path = path
        self.line = line
        self.members = members
    }

    // MARK: Reading

    /// A text that is not empty, and that `check` finds nothing wrong with.
    mutating func text(_ key: String, check: (String) -> String? = { _ in nil }) -> String? {
        guard let value = value(key) else { return nil }
        guard case .string(let text) = value.content else { return wrongType(key, value, wanted: "a text in quotes") }
        guard text.contains(where: { !$0.isWhitespace }) else {
            report(key, "is empty: give it a value or take the key out")
            return nil
        }
        guard !text.utf8.contains(0) else {
            report(key, "holds a NUL character")
            return nil
        }
        if let problem = check(text) {
            report(key, problem)
            return nil
        }
        return text
    }

    /// The same, and it must be there; `meaning` says what to put.
    mutating func requiredText(_ key: String, meaning: String, check: (String) -> String? = { _ in nil }) -> String? {
        if has(key) { return text(key, check: check) }
        know(key)
        problems.append(ConfigurationProblem(path: qualified(key), line: line, message: "is missing: \(meaning)"))
        return nil
    }

    /// A list of texts, each checked.
    mutating func texts(_ key: String, check: (String) -> String?) -> [String]? {
        guard let value = value(key) else { return nil }
        guard case .array(let elements) = value.content else { return wrongType(key, value, wanted: "a list: [\"…\"]") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            let place = "\(key)[\(index)]"
            guard case .string(let text) = element.content else {
                report(place, "must be a text in quotes, not \(element.kind)", line: element.line)
                continue
            }
            if let problem = check(text) {
                report(place, problem, line: element.line)
            } else {
                texts.append(text)
            }
        }
        return texts
    }

    /// A whole number within `range`.
    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = value(key) else { return nil }
        guard case .number(let number) = value.content else { return wrongType(key, value, wanted: "a number") }
        guard let integer = Int(exactly: number), range.contains(integer) else {
            report(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return integer
    }

    /// A time with its unit: `500ms`, `30s`, `2m`, `1h`, `7d`.
    mutating func duration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        if let value = value(key), case .number = value.content {
            return wrongType(key, value, wanted: "a time with its unit, such as \"30s\"")
        }
        guard let text = text(key) else { return nil }
        guard let duration = Duration(configured: text), range.contains(duration) else {
            let (lowest, highest) = (range.lowerBound.configured, range.upperBound.configured)
            report(key, "must be a time from \(lowest) to \(highest), such as \"30s\", \"500ms\" or \"2m\"")
            return nil
        }
        return duration
    }

    /// The same, or `"off"` for nil. Leaves `limit` as it is where the key is missing or wrong.
    mutating func readLimit(_ key: String, in range: ClosedRange<Duration>, into limit: inout Duration?) {
        if case .string("off")? = value(key)?.content {
            limit = nil
        } else if let duration = duration(key, in: range) {
            limit = duration
        }
    }

    mutating func section(_ key: String) -> ConfigurationSection? {
        guard let value = value(key) else { return nil }
        guard case .object(let members) = value.content else {
            return wrongType(key, value, wanted: "an object: { … }")
        }
        return ConfigurationSection(path: qualified(key), line: value.line, members: members)
    }

    func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    // MARK: Reporting

    mutating func report(_ key: String, _ message: String, line: Int? = nil) {
        let keyLine = members.first { $0.key == key }?.line
        problems.append(
            ConfigurationProblem(path: qualified(key), line: line ?? keyLine ?? self.line, message: message))
    }

    /// All problems of this section and of `inner`, unknown keys included, in the order of the file.
    mutating func finish(with inner: [ConfigurationProblem] = []) -> [ConfigurationProblem] {
        for member in members where !known.contains(member.key) {
            let mend =
                order.nearest(to: member.key).map { "did you mean \($0)?" }
                ?? "known here: \(order.joined(separator: ", "))"
            report(member.key, "is not a key that Hark knows: \(mend)")
        }
        return (problems + inner).sorted { $0.line < $1.line }
    }

    private mutating func value(_ key: String) -> JSON5? {
        know(key)
        return members.first { $0.key == key }?.value
    }

    private mutating func know(_ key: String) {
        if known.insert(key).inserted { order.append(key) }
    }

    private mutating func wrongType<T>(_ key: String, _ value: JSON5, wanted: String) -> T? {
        report(key, "must be \(wanted), not \(value.kind)")
        return nil
    }

    private func qualified(_ key: String) -> String {
        [path, key].filter { !$0.isEmpty }.joined(separator: ".")
    }
}

/// One thing that is wrong with a configuration file, and the mend.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// The key's path: `push.apns.keyId`; empty for the file as a whole.
    public var path: String
    /// From 1.
    public var line: Int
    /// From 1; nil for the whole line.
    public var column: Int?
    public var message: String

    init(path: String, line: Int, column: Int? = nil, message: String) {
        self.path = path
        self.line = line
        self.column = column
        self.message = message
    }

    /// `4`, or `4:12` where the column is known.
    var place: String { column.map { "\(line):\($0)" } ?? "\(line)" }

    public var description: String { path.isEmpty ? message : "\(path.printable) \(message)" }
}

extension Duration {
    private static let units: [(suffix: String, duration: Duration)] = [
        ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3600)),
        ("d", .seconds(86_400)),
    ]

    /// From digits and a unit; nil for anything else.
    public init?(configured text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int32(digits), let unit = Self.units.first(where: { $0.suffix == text[digits.endIndex...] })
        else { return nil }
        self = unit.duration * Int(count)
    }

    /// As it would be configured, in the largest unit that leaves a whole number.
    public var configured: String {
        for unit in Self.units.reversed() {
            let (count, rest) = attoseconds.quotientAndRemainder(dividingBy: unit.duration.attoseconds)
            if count >= 1, rest == 0 { return "\(count)\(unit.suffix)" }
        }
        return "0s"
    }
}
