import CSQLite

/// What a person wants to be notified of.
public struct PushSettings: Sendable, Hashable {
    /// Whose acts notify.
    public enum Scope: String, Sendable, Hashable, CaseIterable {
        case all
        /// Those of people whom the person follows.
        case follows
    }

    /// For the notifications of one `data.type`.
    public struct OfType: Sendable, Hashable {
        public var type: String
        public var push: Bool
        public var scope: Scope

        public init(type: String, push: Bool = true, scope: Scope = .all) {
            self.type = type
            self.push = push
            self.scope = scope
        }
    }

    /// A change to the settings of one type: what is nil stays as it is. With neither, the type's settings are
    /// forgotten.
    public struct Change: Sendable, Hashable {
        /// Not empty, of `maximumTypeLength` bytes at most.
        public var type: String
        public var push: Bool?
        public var scope: Scope?

        public init(type: String, push: Bool? = nil, scope: Scope? = nil) {
            self.type = type
            self.push = push
            self.scope = scope
        }
    }

    /// False: nothing is queued for the account, though its devices stay registered.
    public var push = true
    /// In order of type; a type that is not listed is on, from all.
    public var types: [OfType] = []

    public init(push: Bool = true, types: [OfType] = []) {
        self.push = push
        self.types = types
    }

    /// Types that one person may have settings for.
    public static let maximumTypes = 100
    /// Bytes.
    public static let maximumTypeLength = 128
}

extension Connection {
    /// The settings of `did`; those of somebody who has none are the default.
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
    /// Changes what is given and leaves the rest.
    /// - Returns: the settings as they are then.
    /// - Throws: `TooManyTypes`, with which nothing is changed.
    public func changePushSettings(
        did: String, push: Bool? = nil, types: [PushSettings.Change] = []
    ) throws -> PushSettings {
        try checkOpen()
        recipients.forget(did)
        switch push {
        case true?: try forgetPushSettings(did: did, type: "")
        case false?: try setPush(did: did, PushSettings.OfType(type: "", push: false))
        case nil: break
        }
        for change in types {
            guard change.push != nil || change.scope != nil else {
                try forgetPushSettings(did: did, type: change.type)
                continue
            }
            var setting = try pushSetting(did: did, type: change.type)
            setting.push = change.push ?? setting.push
            setting.scope = change.scope ?? setting.scope
            try setPush(did: did, setting)
        }
        let settings = try connection.pushSettings(did: did)
        if settings.types.count > PushSettings.maximumTypes { throw PushSettings.TooManyTypes() }
        return settings
    }

    private func pushSetting(did: String, type: String) throws -> PushSettings.OfType {
        let statement = try connection.statement("SELECT push, scope FROM _push_settings WHERE did = ? AND type = ?")
        statement.bind(1, did)
        statement.bind(2, type)
        let known = try statement.first { row in
            PushSettings.OfType(
                type: type, push: row.integer(0) != 0, scope: PushSettings.Scope(rawValue: row.text(1)) ?? .all)
        }
        return known ?? PushSettings.OfType(type: type)
    }

    /// The row of the empty type is the account's, and there only while it is off: so whoever has no wishes has no row.
    private func setPush(did: String, _ setting: PushSettings.OfType) throws {
        let statement = try connection.statement(
            """
            INSERT INTO _push_settings (did, type, push, scope) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (did, type) DO UPDATE SET push = excluded.push, scope = excluded.scope
            """)
        statement.bind(1, did)
        statement.bind(2, setting.type)
        statement.bind(3, setting.push ? 1 : 0)
        statement.bind(4, setting.scope.rawValue)
        try statement.run()
    }

    private func forgetPushSettings(did: String, type: String) throws {
        let statement = try connection.statement("DELETE FROM _push_settings WHERE did = ? AND type = ?")
        statement.bind(1, did)
        statement.bind(2, type)
        try statement.run()
    }
}

extension PushSettings {
    /// There would be settings for more than `maximumTypes` types.
    public struct TooManyTypes: Error, Sendable, CustomStringConvertible {
        public var description: String {
            "an account may have settings for \(maximumTypes) types: a type given with neither push nor from is forgotten"
        }
    }
}
