import ATProto
import Storage

/// The methods by which a person says what to be notified of. They know the caller's settings alone.
///
/// Source: `social.hatk.push.getSettings.json` and `social.hatk.push.putSettings.json` in `Lexicons/`.
struct SettingsMethods: Sendable {
    let database: Database

    func getSettings(_ call: XRPCMethod.Call) async throws -> Value? {
        try await database.reading { try $0.pushSettings(did: call.viewer.description) }.output
    }

    func putSettings(_ call: XRPCMethod.Call) async throws -> Value? {
        let input = try SettingsInput(call.body)
        let viewer = call.viewer.description
        do {
            return try await database.write {
                try $0.changePushSettings(did: viewer, push: input.push, types: input.types)
            }.output
        } catch let error as PushSettings.TooManyTypes {
            throw XRPCError.invalidRequest("\(error)")
        }
    }
}
