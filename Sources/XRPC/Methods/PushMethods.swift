import ATProto
import Storage

/// The methods by which an app registers its devices, and a person sees and removes them and says what to be notified of.
///
/// Source: the files in `Lexicons/`, and `app.bsky.notification.registerPush` of the network's own lexicons.
struct PushMethods: Sendable {
    let database: Database
    let rules: DeviceInput.Rules
    /// Devices of one account.
    let deviceLimit: Int
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64

    private var settings: SettingsMethods { SettingsMethods(database: database) }

    var all: [XRPCMethod] {
        let ours: [(name: String, kind: XRPCMethod.Kind, run: @Sendable (XRPCMethod.Call) async throws -> Value?)] = [
            ("registerToken", .procedure, registerToken), ("unregisterToken", .procedure, unregisterToken),
            ("listDevices", .query, listDevices), ("removeDevice", .procedure, removeDevice),
            ("getSettings", .query, settings.getSettings), ("putSettings", .procedure, settings.putSettings),
        ]
        // The second name is the one that hatk's clients use at present.
        return ["social.hatk.push", "dev.hatk.push"].flatMap { family in
            ours.map { XRPCMethod(nsid: "\(family).\($0.name)", kind: $0.kind, run: $0.run) }
        } + [
            XRPCMethod(nsid: "app.bsky.notification.registerPush", kind: .procedure, run: registerPush),
            XRPCMethod(nsid: "app.bsky.notification.unregisterPush", kind: .procedure, run: unregisterPush),
        ]
    }

    private func registerToken(_ call: XRPCMethod.Call) async throws -> Value? {
        let id = try await register(try DeviceInput(push: call.body, rules), of: call.viewer)
        return .object(["id": .integer(id)])
    }

    private func unregisterToken(_ call: XRPCMethod.Call) async throws -> Value? {
        try await remove(try DeviceInput.token(call.body), of: call.viewer)
        return .object([:])
    }

    private func registerPush(_ call: XRPCMethod.Call) async throws -> Value? {
        _ = try await register(try DeviceInput(notification: call.body, rules), of: call.viewer)
        return nil
    }

    private func unregisterPush(_ call: XRPCMethod.Call) async throws -> Value? {
        try await remove(try DeviceInput.token(notification: call.body, rules), of: call.viewer)
        return nil
    }

    private func register(_ input: DeviceInput, of viewer: DID) async throws -> Int64 {
        let (token, time, limit) = (input.registration(of: viewer), now(), deviceLimit)
        return try await database.write { try $0.register(token, now: time, limit: limit) }
    }

    private func remove(_ token: String, of viewer: DID) async throws {
        _ = try await database.write { try $0.removeToken(did: viewer.description, token: token) }
    }

    private func listDevices(_ call: XRPCMethod.Call) async throws -> Value? {
        let devices = try await database.reading { try $0.tokens(did: call.viewer.description) }
        return .object(["devices": .array(devices.map(Self.listing))])
    }

    /// A device as its owner may see it: never with its whole token.
    private static func listing(_ device: PushToken) -> Value {
        .object([
            "id": .integer(device.id), "platform": .string(device.platform),
            "environment": .string(device.environment), "topic": Value(device.topic), "label": Value(device.label),
            "tokenSuffix": .string(device.suffix), "createdAt": .string(device.createdAt),
            "lastSeenAt": .string(device.lastSeenAt),
        ])
    }

    /// Like forgetting a token, removing a device that is not there, or not the viewer's, succeeds and does nothing.
    private func removeDevice(_ call: XRPCMethod.Call) async throws -> Value? {
        let id = try call.body.integer("id")
        _ = try await database.write { try $0.removeToken(id: id, did: call.viewer.description) }
        return .object([:])
    }
}
