import CSQLite

/// Whether a notification's recipient wants it, as their settings have it. Asked in the transaction that queues it.
extension Transaction {
    /// Why the recipient is not to get `entry`; nil when they are. To be asked of recipients who have settings.
    func objection(to entry: OutboxEntry) throws -> PushObjection? {
        let statement = try connection.statement(
            "SELECT type, push, scope FROM _push_settings WHERE did = ?1 AND type IN ('', ?2) ORDER BY type")
        statement.bind(1, entry.did)
        statement.bind(2, entry.type)
        var objection: PushObjection?
        var scope = PushSettings.Scope.all
        // The account's own row comes first, if it is there.
        try statement.forEachRow { row in
            if row.integer(1) == 0 { objection = objection ?? .turnedOff(type: row.text(0)) }
            scope = PushSettings.Scope(rawValue: row.text(2)) ?? .all
        }
        if objection != nil || scope == .all { return objection }
        guard let actor = entry.actor else { return nil }
        switch try does(entry.did, follow: actor) {
        case true?: return nil
        case false?: return .notFollowed
        case nil: return .followsUnknown
        }
    }
}

/// Why a recipient is not to get a notification.
enum PushObjection: Sendable, Hashable {
    /// For the whole account where `type` is empty.
    case turnedOff(type: String)
    /// They want those of people whom they follow.
    case notFollowed
    /// The same, and nothing is known of whom anybody follows.
    case followsUnknown

    /// As a note says it.
    var reason: String {
        switch self {
        case .turnedOff(let type): type.isEmpty ? OutboxNote.turnedOff : "\(OutboxNote.turnedOff): \(type)"
        case .notFollowed: OutboxNote.notFollowed
        case .followsUnknown: OutboxNote.followsUnknown
        }
    }
}

extension OutboxEntry {
    /// Whose act it tells of: the repo in whose record's address it is. nil when it tells of no record, as what an
    /// operator sends does: whose acts notify does not matter then.
    var actor: Substring? {
        let scheme = "at://"
        guard uri.hasPrefix(scheme) else { return nil }
        let actor = uri.dropFirst(scheme.count).prefix { $0 != "/" }
        return actor.isEmpty ? nil : actor
    }
}
