/// How often each thing happened to notifications and to their rows since the service started, for metrics.
public struct PushOutcomes: Sendable, Hashable {
    public struct Key: Sendable, Hashable {
        /// `queued`, `no-token`, `deduplicated`, `turned-off`, `not-followed`, `too-old`, `refused`; `sent`, `retry`, `dead`, `expired`, `removed`.
        public var outcome: String
        /// Apple's word or ours; empty where there is nothing to say.
        public var reason: String

        public init(_ outcome: String, _ reason: String = "") {
            self.outcome = outcome
            self.reason = reason
        }
    }

    /// Reasons beyond so many are counted together.
    static let limit = 200
    static let otherReason = "other"

    public private(set) var counts: [Key: Int] = [:]

    public subscript(outcome: String, reason: String = "") -> Int { counts[Key(outcome, reason)] ?? 0 }

    mutating func add(_ outcome: String, _ reason: String = "", _ count: Int = 1) {
        guard count > 0 else { return }
        let key = Key(outcome, reason)
        let isKept = counts[key] != nil || counts.count < Self.limit
        counts[isKept ? key : Key(outcome, Self.otherReason), default: 0] += count
    }

    /// What a row's error says in general: `HTTP 503`, `key stopped`.
    static func reason(of error: String) -> String {
        let general = error.prefix { $0 != ":" }
        return general.hasPrefix("gave up after") ? "gave up" : String(general)
    }
}
