/// What an operator sees and does at `/_admin`. Each answer is JSON, and holds no whole token.
///
/// What is not to be found, or cannot be done, throws an `XRPCError`.
public protocol AdminDesk: Sendable {
    /// The live figures: counters, source, queue, hooks.
    func overview() async throws -> [UInt8]
    /// Dead pushes, the newest first, those before the id when one is given.
    func deadLetters(before id: Int64?) async throws -> [UInt8]
    /// Devices of the accounts whose DID begins with `did`, from a place that an earlier answer named.
    func devices(did: String, after place: String?) async throws -> [UInt8]
    /// Why the record at this at-uri did notify, or did not, and whom.
    func explanation(of uri: String) async throws -> [UInt8]
    /// Sends pushes again.
    func retry(_ selection: AdminSelection) async throws -> [UInt8]
    /// Gives pushes up for good.
    func drop(_ selection: AdminSelection) async throws -> [UInt8]
}

/// Pushes that an operator has chosen.
public enum AdminSelection: Sendable, Hashable, CustomStringConvertible {
    case ids([Int64])
    case allDead

    /// For the log.
    public var description: String {
        switch self {
        case .allDead: "all that are dead"
        case .ids(let ids) where ids.count > 20: "\(ids.count) by their ids"
        case .ids(let ids): ids.map { "\($0)" }.joined(separator: " ")
        }
    }
}
