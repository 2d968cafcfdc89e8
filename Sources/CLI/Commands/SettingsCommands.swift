import Runtime

extension Command {
    static let settingsShow = Command(
        name: "settings show", summary: "show what a person wants to be notified of",
        options: [.did, .json, .config, .database],
        notes: ["A type is a notification's data.type. One that is not listed is on, from all."]
    ) { arguments in
        try await answer(arguments) { settings, did in try settings.show(did) }
    }

    static let settingsPush = Command(
        name: "settings push", summary: "turn a person's pushes on or off",
        operands: .one("on|off"), options: [.did, .type, .json, .config, .database],
        notes: [
            "Off: nothing is queued any more, though the devices stay registered; what is queued already goes out.",
            "With --type for the notifications with that data.type alone.",
        ]
    ) { arguments in
        let isOn = try onOrOff(arguments.operands[0])
        let type = try type(arguments)
        try await answer(arguments) { settings, did in try await settings.set(push: isOn, type: type, for: did) }
    }

    static let settingsFrom = Command(
        name: "settings from", summary: "say whose acts notify a person: all, or those whom they follow",
        operands: .one("all|follows"), options: [.did, .type, .json, .config, .database],
        notes: [
            "For the notifications with the data.type that --type names.",
            "Whom a person follows is known from the records that the configuration's push.follows names.",
        ]
    ) { arguments in
        let scope = arguments.operands[0]
        guard AccountSettings.scopes.contains(scope) else {
            throw OperatorError(
                "settings from takes all or follows, not \"\(scope)\"\(mend(scope, AccountSettings.scopes))")
        }
        let type = try requiredType(arguments)
        try await answer(arguments) { settings, did in try await settings.set(from: scope, type: type, for: did) }
    }

    static let settingsForget = Command(
        name: "settings forget", summary: "take a person's settings of one type away",
        options: [.did, .type, .json, .config, .database],
        notes: ["The type is on, from all, from then on."]
    ) { arguments in
        let type = try requiredType(arguments)
        try await answer(arguments) { settings, did in try await settings.forget(type: type, for: did) }
    }

    /// Does it for the person whom the flags name, and prints the settings as they are then.
    private static func answer(
        _ arguments: Arguments, _ act: (AccountSettings, String) async throws -> AccountSettings.Listing
    ) async throws {
        let did = try arguments.required(.did)
        if !NewDevice.isDID(did) { throw OperatorError("\"\(did)\" is not a DID") }
        let settings = try AccountSettings(database: try arguments.configuration().database)
        defer { settings.close() }
        let listing = try await act(settings, did)
        let console = Console.shared
        if arguments.has(Option.json.name) { return console.print(listing.json.text) }
        for line in listing.lines { console.print(line) }
    }

    private static func onOrOff(_ word: String) throws(OperatorError) -> Bool {
        switch word {
        case "on": return true
        case "off": return false
        default: throw OperatorError("settings push takes on or off, not \"\(word)\"")
        }
    }

    private static func type(_ arguments: Arguments) throws(OperatorError) -> String? {
        guard let type = arguments[Option.type.name] else { return nil }
        if let problem = AccountSettings.problem(inType: type) { throw OperatorError(problem) }
        return type
    }

    private static func requiredType(_ arguments: Arguments) throws(OperatorError) -> String {
        let name = try arguments.required(.type)
        return try type(arguments) ?? name
    }

    private static func mend(_ word: String, _ known: [String]) -> String {
        known.nearest(to: word).map { ": did you mean \($0)?" } ?? ""
    }
}

extension Option {
    fileprivate static let did = Option(name: "--did", value: "DID", help: "whose settings they are")
    fileprivate static let type = Option(name: "--type", value: "TYPE", help: "of these notifications: their data.type")
}
