import Testing

@testable import Runtime

@Suite struct NewDeviceTests {
    private static let token = String(repeating: "a1", count: 32)

    private static func device(
        did: String = "did:plc:ewvi7nxzyoun6zhxrhs64oiz", token: String = token, platform: String = "apns",
        environment: String = "sandbox", topic: String? = nil, label: String? = nil
    ) throws(OperatorError) -> NewDevice {
        try NewDevice(
            did: did, token: token, platform: platform, environment: environment, topic: topic, label: label)
    }

    @Test func takesWhatAppleGives() throws {
        _ = try Self.device(topic: "com.grain.app-2.voip", label: "Zoë's \u{1F4F1}")
        _ = try Self.device(token: String(repeating: "0F", count: 80))
    }

    @Test(arguments: ["", "xyz", "a1 b2", "a1b", "a1\0b", "٣٣", String(repeating: "a1", count: 257)])
    func refusesTokensWithoutRepeatingThem(_ token: String) {
        let error = #expect(throws: OperatorError.self) { try Self.device(token: token) }
        #expect(token.count < 3 || error?.description.contains(token) == false)
    }

    @Test func refusesTheRest() {
        #expect(throws: OperatorError.self) { try Self.device(did: "plc:x") }
        #expect(throws: OperatorError.self) { try Self.device(platform: "fcm") }
        #expect(throws: OperatorError.self) { try Self.device(environment: "development") }
        #expect(throws: OperatorError.self) { try Self.device(topic: "com grain") }
        #expect(throws: OperatorError.self) { try Self.device(topic: "") }
        #expect(throws: OperatorError.self) { try Self.device(label: String(repeating: "é", count: 129)) }
    }
}
