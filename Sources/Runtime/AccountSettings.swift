import ATProto
import Storage

/// What people want to be notified of, for operators. Works beside a running Hark, which heeds a change at once.
public struct AccountSettings: Sendable {
    private let database: Database

    /// - Throws: `OperatorError` or `RunError` when the database cannot be opened.
    public init(database path: String) throws {
        database = try Database.open(path, as: .guest)
    }

    /// Whose acts notify, by name.
    public static var scopes: [String] { PushSettings.Scope.allCases.map(\.rawValue) }

    /// One person's settings.
    public struct Listing: Sendable {
        let did: String
        let settings: PushSettings

        /// What `hark settings … --json` prints.
        public var json: JSONText {
            let types = settings.types.map { setting in
                JSONText.object([
                    ("type", .string(setting.type)), ("push", .bool(setting.push)),
                    ("from", .string(setting.scope.rawValue)),
                ])
            }
            return .object([
                ("did", .string(did)), ("push", .bool(settings.push)), ("types", .array(types)),
            ])
        }

        /// For people: whether the account is on, then the types that have settings.
        public var lines: [String] {
            let account = settings.push ? "push is on" : "push is off: nothing is queued"
            let width = settings.types.map { $0.type.printable.count }.max() ?? 0
            return ["\(did.printable): \(account)"]
                + settings.types.map { setting in
                    let type = setting.type.printable
                    let space = String(repeating: " ", count: width - type.count)
                    return "  \(type)\(space)  \(setting.push ? "on " : "off")  from \(setting.scope.rawValue)"
                }
        }
    }

    public func show(_ did: String) throws -> Listing {
        Listing(did: did, settings: try database.read { try $0.pushSettings(did: did) })
    }

    /// Turns pushes on or off: of one type, or of the whole account where `type` is nil.
    public func set(push: Bool, type: String?, for did: String) async throws -> Listing {
        guard let type else { return try await change(did, push: push, types: []) }
        return try await change(did, push: nil, types: [PushSettings.Change(type: type, push: push)])
    }

    /// - Parameter scope: one of `scopes`.
    /// - Throws: an `OperatorError` when it is none of them.
    public func set(from scope: String, type: String, for did: String) async throws -> Listing {
        guard let scope = PushSettings.Scope(rawValue: scope) else {
            throw OperatorError(
                "\"\(scope)\" is not whose acts may notify: there are \(Self.scopes.joined(separator: ", "))")
        }
        return try await change(did, push: nil, types: [PushSettings.Change(type: type, scope: scope)])
    }

    /// Takes the settings of one type away: it is on, from all, from then on.
    public func forget(type: String, for did: String) async throws -> Listing {
        try await change(did, push: nil, types: [PushSettings.Change(type: type)])
    }

    private func change(_ did: String, push: Bool?, types: [PushSettings.Change]) async throws -> Listing {
        let settings = try await database.write { try $0.changePushSettings(did: did, push: push, types: types) }
        return Listing(did: did, settings: settings)
    }

    public func close() { database.close() }

    /// What is wrong with the name of a type; nil when it can be a notification's.
    public static func problem(inType type: String) -> String? {
        if type.isEmpty { return "the type is empty" }
        if type.utf8.count > PushSettings.maximumTypeLength {
            return "the type is longer than \(PushSettings.maximumTypeLength) bytes"
        }
        if type.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "the type holds control characters"
        }
        return nil
    }
}
