/// What is wrong with a flag, in one line.
public struct FaultSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String

    init(_ description: String) { self.description = description }
}

extension Faults {
    /// A command-line flag that `set` takes.
    public struct Flag: Sendable, Hashable {
        public var name: String
        public var argument: String
        public var help: String
    }

    /// For a usage text.
    public static let flags: [Flag] = [
        Flag(
            name: "--answer", argument: "EFFECT[:CONDITION]…",
            help: "answer 410, BadDeviceToken …; or refuse, reset, silent, freeze, abort"),
        Flag(name: "--every", argument: "N", help: "… only every Nth request (after --answer)"),
        Flag(name: "--first", argument: "N", help: "… only the first N tries of each apns-id"),
        Flag(name: "--after", argument: "N", help: "… not for the first N requests"),
        Flag(name: "--nth", argument: "N", help: "… only for the Nth request"),
        Flag(name: "--token", argument: "SUFFIX", help: "… only for tokens that end so"),
        Flag(name: "--delay", argument: "50ms|20ms..80ms", help: "hold answers back"),
        Flag(name: "--goaway-after", argument: "N[:CODE]", help: "say GOAWAY after N requests of a connection"),
        Flag(name: "--retry-after", argument: "SECONDS", help: "send retry-after with 429 and 503"),
        Flag(name: "--error-body", argument: "json|empty|html|split", help: "shape of an error's body"),
        Flag(name: "--streams", argument: "COUNT[@REQUESTS][+DELAY],…", help: "limits on a connection's streams"),
        Flag(name: "--handshake", argument: "normal|silent", help: "silent: accept TCP and never say a word"),
        Flag(name: "--windows", argument: "open|shut", help: "shut: never open a flow-control window again"),
        Flag(name: "--seed", argument: "N", help: "what percentages and delays are drawn from"),
    ]

    /// Takes one flag and its value. False when the flag is none of `flags`.
    public mutating func set(_ flag: String, _ value: String) throws(FaultSyntaxError) -> Bool {
        do { return try take(flag, value) } catch {
            throw FaultSyntaxError("\(flag) \(value): \(error)")
        }
    }

    private mutating func take(_ flag: String, _ value: String) throws(FaultSyntaxError) -> Bool {
        switch flag {
        case "--answer": rules.append(try Rule(value))
        case "--every", "--first", "--after", "--nth", "--token":
            guard let last = rules.indices.last else { throw FaultSyntaxError("stands before any --answer") }
            rules[last].conditions.append(try Condition("\(flag.dropFirst(2))=\(value)"))
        case "--delay": delay = try Self.durations(value)
        case "--goaway-after": goAway = try GoAway(value)
        case "--retry-after": retryAfterSeconds = try Self.count(value)
        case "--error-body": errorBody = try Self.choice(value)
        case "--handshake": handshake = try Self.choice(value)
        case "--windows": windows = try Self.choice(value)
        case "--streams":
            streams = try value.split(separator: ",", omittingEmptySubsequences: false).map {
                text throws(FaultSyntaxError) in
                try StreamLimit(String(text))
            }
        case "--seed":
            guard let number = UInt64(value) else { throw FaultSyntaxError("expected a number") }
            seed = number
        default: return false
        }
        return true
    }

    fileprivate static func count(_ text: some StringProtocol) throws(FaultSyntaxError) -> Int {
        guard let count = Int(text), count > 0 else { throw FaultSyntaxError("expected a number above 0") }
        return count
    }

    private static func choice<Choice>(_ text: String) throws(FaultSyntaxError) -> Choice
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let choice = Choice(rawValue: text) else {
            throw FaultSyntaxError("expected \(Choice.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        return choice
    }

    private static func durations(_ text: String) throws(FaultSyntaxError) -> ClosedRange<Duration> {
        let ends = text.split(separator: "..", maxSplits: 1)
        guard let first = ends.first, let last = ends.last else {
            throw FaultSyntaxError("expected a time, as in 50ms")
        }
        let (low, high) = (try duration(first), try duration(last))
        guard low <= high else { throw FaultSyntaxError("the longer time stands first") }
        return low...high
    }

    static func duration(_ text: some StringProtocol) throws(FaultSyntaxError) -> Duration {
        let number = text.prefix { $0.isNumber }
        guard let count = Int64(number), count < 1 << 32 else { throw FaultSyntaxError("expected a time, as in 50ms") }
        switch text.dropFirst(number.count) {
        case "us": return .microseconds(count)
        case "ms": return .milliseconds(count)
        case "s": return .seconds(count)
        default: throw FaultSyntaxError("expected a time in us, ms or s, as in 50ms")
        }
    }
}

extension Faults.Rule {
    /// From `EFFECT[:CONDITION]…`, as in `410:25%` or `ServiceUnavailable:every=7:first=2`.
    public init(_ text: String) throws(FaultSyntaxError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        self.init(
            try Faults.Effect(parts[0]),
            when: try parts.dropFirst().map { text throws(FaultSyntaxError) in try Faults.Condition(text) })
    }
}

extension Faults.Effect {
    /// From a status, a reason, or `refuse`, `reset`, `silent`, `freeze`, `abort`.
    public init(_ text: String) throws(FaultSyntaxError) {
        switch text {
        case "refuse": self = .refuse
        case "reset": self = .reset
        case "silent": self = .silent
        case "freeze": self = .freeze
        case "abort": self = .abort
        default:
            if let reason = APNsReason(rawValue: text) ?? Int(text).flatMap(APNsReason.init(status:)) {
                self = .answer(reason)
            } else if let status = Int(text), 400...599 ~= status {
                self = .status(status)
            } else {
                throw FaultSyntaxError(
                    "'\(text)' is no status, no reason of Apple's, and not refuse, reset, silent, freeze or abort")
            }
        }
    }
}

extension Faults.Condition {
    /// From `25%`, `every=N`, `first=N`, `after=N`, `nth=N` or `token=SUFFIX`.
    public init(_ text: String) throws(FaultSyntaxError) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), 0...100 ~= percent else {
                throw FaultSyntaxError("'\(text)' is no percentage")
            }
            self = .percent(percent)
            return
        }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw Self.notOne(text) }
        switch parts[0] {
        case "every": self = .every(try Faults.count(parts[1]))
        case "first": self = .first(try Faults.count(parts[1]))
        case "after": self = .after(try Faults.count(parts[1]))
        case "nth": self = .nth(try Faults.count(parts[1]))
        case "token" where !parts[1].isEmpty: self = .token(parts[1].lowercased())
        default: throw Self.notOne(text)
        }
    }

    private static func notOne(_ text: String) -> FaultSyntaxError {
        FaultSyntaxError("'\(text)' is no condition: expected 25%, every=N, first=N, after=N, nth=N or token=SUFFIX")
    }
}

extension Faults.GoAway {
    /// From `REQUESTS[:CODE]`.
    public init(_ text: String) throws(FaultSyntaxError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let requests = try Faults.count(parts[0])
        guard let code = parts.count == 2 ? UInt32(parts[1]) : 0 else {
            throw FaultSyntaxError("'\(parts[1])' is no error code")
        }
        self.init(afterRequests: requests, errorCode: code)
    }
}

extension Faults.StreamLimit {
    /// From `COUNT[@REQUESTS][+DELAY]`.
    public init(_ text: String) throws(FaultSyntaxError) {
        let delayed = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = delayed[0].split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let count = UInt32(parts[0]) else {
            throw FaultSyntaxError("'\(text)' is no limit, as in 1000@300+200ms")
        }
        self.init(
            count, afterRequests: parts.count == 2 ? try Faults.count(parts[1]) : 0,
            delay: delayed.count == 2 ? try Faults.duration(delayed[1]) : .zero)
    }
}
