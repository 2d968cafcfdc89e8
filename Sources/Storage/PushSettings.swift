import CSQLite

/// What a person wants to be notified of.
public struct PushSettings: Sendable, Hashable {
    /// Whose acts notify.
    public enum Scope: String, Sendable, Hashable, CaseIterable {
        case all
        /// Those whom the person follows.
        case follows
    }

    /// For the notifications of one `data.type`.
    public struct OfType: Sendable, Hashable {
        public var type: String
        public var push: Bool
        public var scope: Scope

        public init(type: String, push: Bool, scope: Scope) {
            self.type = type
            self.push = push
            self.scope = scope
        }
    }

    /// False: nothing is queued for the account, though its devices stay registered.
    public var push = true
    /// In order of type; a type that is not listed is on, for all.
    public var types: [OfType] = []

    public init(push: Bool = true, types: [OfType] = []) {
        self.push = push
        self.types = types
    }

    /// Types that one person may have settings for.
    public static let maximumTypes = 100

    /// Whose acts notify when the notification's `data.type` is `type`; nil when nobody's do.
    public func scope(of type: String?) -> Scope? {
        guard push else { return nil }
        guard let setting = types.first(where: { $0.type == type }) else { return .all }
        return setting.push ? setting.scope : nil
    }
}

extension Connection {
    public func pushSettings(did: String) throws -> PushSettings {
        let statement = try statement("SELECT type, push, scope FROM _push_settings WHERE did = ? ORDER BY type")
        statement.bind(1, did)
        var settings = PushSettings()
        try statement.forEachRow { row in
            let (type, push) = (row.text(0), row.integer(1) != 0)
            if type.isEmpty {
                settings.push = push
            } else {
                let scope = PushSettings.Scope(rawValue: row.text(2)) ?? .all
                settings.types.append(PushSettings.OfType(type: type, push: push, scope: scope))
            }
        }
        return settings
    }
}

extension Transaction {
    /// Changes what is given and leaves the rest. Types must not be empty.
    /// - Returns: the settings as they are then; nil, with nothing changed, when there would be too many types.
    public func changePushSettings(did: String, push: Bool?, types: [PushSettings.OfType]) throws -> PushSettings? {
        try checkOpen()
        let present = try connection.pushSettings(did: did)
        let names = Set(present.types.map(\.type)).union(types.map(\.type))
        guard names.count <= PushSettings.maximumTypes else { return nil }
        if let push { try setPush(did: did, type: "", push: push, scope: .all) }
        for setting in types {
            try setPush(did: did, type: setting.type, push: setting.push, scope: setting.scope)
        }
        return try connection.pushSettings(did: did)
    }

    private func setPush(did: String, type: String, push: Bool, scope: PushSettings.Scope) throws {
        let statement = try connection.statement(
            """
            INSERT INTO _push_settings (did, type, push, scope) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (did, type) DO UPDATE SET push = excluded.push, scope = excluded.scope
            """)
        statement.bind(1, did)
        statement.bind(2, type)
        statement.bind(3, push ? 1 : 0)
        statement.bind(4, scope.rawValue)
        try statement.run()
    }
}
