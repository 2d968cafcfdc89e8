import ATProto
import Storage

/// What a person wants to change of their settings, checked: the input of `social.hatk.push.putSettings`.
struct SettingsInput: Sendable {
    let push: Bool?
    let types: [PushSettings.Change]

    init(_ body: JSONBody) throws(XRPCError) {
        push = try body.optionalBool("push")
        types = try Self.types(body)
        guard push != nil || body["types"]?.isNull == false else {
            throw .invalidRequest("there is nothing to change: give push, types or both")
        }
    }

    private static let members: Set = ["$type", "type", "push", "from"]

    private static func types(_ body: JSONBody) throws(XRPCError) -> [PushSettings.Change] {
        guard let list = body["types"], !list.isNull else { return [] }
        guard let items = list.array else { throw .invalidRequest("types must be an array") }
        guard items.count <= PushSettings.maximumTypes else {
            throw .invalidRequest("types holds more than \(PushSettings.maximumTypes)")
        }
        var names: Set<[UInt8]> = []
        var changes: [PushSettings.Change] = []
        for (index, item) in items.enumerated() {
            let place = "types[\(index)]"
            guard let map = item.map else { throw .invalidRequest("\(place) must be an object") }
            // A misspelt member would be taken for none: for a wish to have the settings forgotten.
            if let stranger = map.entries.first(where: { !members.contains($0.key) }) {
                throw .invalidRequest(
                    "\(place) has a member \(stranger.key.debugDescription): it may have type, push and from")
            }
            let change = try change(JSONBody(map, at: place))
            guard names.insert(Array(change.type.utf8)).inserted else {
                throw .invalidRequest("\(place).type stands in types twice")
            }
            changes.append(change)
        }
        return changes
    }

    private static func change(_ body: JSONBody) throws(XRPCError) -> PushSettings.Change {
        let type = try body.text("type", maximum: PushSettings.maximumTypeLength)
        let push = try body.optionalBool("push")
        guard let from = try body.optionalText("from", maximum: 16) else {
            return PushSettings.Change(type: type, push: push)
        }
        guard let scope = PushSettings.Scope(rawValue: from) else {
            throw .invalidRequest("\(body.path("from")) must be all or follows")
        }
        return PushSettings.Change(type: type, push: push, scope: scope)
    }
}

extension PushSettings {
    /// The output of `getSettings` and `putSettings`.
    var output: Value {
        let types = types.map { setting in
            Value.object([
                "type": .string(setting.type), "push": .bool(setting.push), "from": .string(setting.scope.rawValue),
            ])
        }
        return .object(["push": .bool(push), "types": .array(types)])
    }
}
