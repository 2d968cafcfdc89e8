import Crypto
import Storage
import TestSupport
import Testing

@testable import XRPC

@Suite(.fewAtATime) struct RegistrationTests {
    @Test(arguments: ["social.hatk.push", "dev.hatk.push"])
    func registersAndForgets(family: String) async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let answer = try await stage.call(
            "\(family).registerToken", ada,
            #"{"token":"\#(appleToken)","platform":"apns","environment":"sandbox","topic":"com.grain.app","label":"Ada's phone","locale":"pt-BR"}"#
        )
        #expect(answer.status == 200)
        let device = try #require(try stage.tokens(of: ada).first)
        #expect(answer.json["id"] as? Int == Int(device.id))
        #expect(device.environment == "sandbox")
        #expect(device.topic == "com.grain.app")
        #expect(device.label == "Ada's phone")
        #expect(device.locale == "pt-BR")

        let gone = try await stage.call("\(family).unregisterToken", ada, #"{"token":"\#(appleToken)"}"#)
        #expect(gone.status == 200)
        #expect(try stage.tokens().isEmpty)
        let again = try await stage.call("\(family).unregisterToken", ada, #"{"token":"\#(appleToken)"}"#)
        #expect(again.status == 200)
        await stage.stop()
    }

    @Test func theNetworksOwnMethods() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada", .p256)
        let body =
            #"{"serviceDid":"\#(PushStage.did)","token":"\#(appleToken)","platform":"ios","appId":"com.grain.app"}"#
        #expect(try await stage.call("app.bsky.notification.registerPush", ada, body).status == 200)
        let device = try #require(try stage.tokens(of: ada).first)
        #expect(device.platform == "apns")
        #expect(device.topic == "com.grain.app")
        #expect(device.environment == "production")
        #expect(try await stage.call("app.bsky.notification.unregisterPush", ada, body).status == 200)
        #expect(try stage.tokens().isEmpty)

        let elsewhere = body.replacing(PushStage.did, with: "did:web:other.test")
        let refused = try await stage.call("app.bsky.notification.registerPush", ada, elsewhere)
        #expect(refused.status == 400)
        #expect(refused.error == "InvalidRequest")
        await stage.stop()
    }

    @Test func registeringAgainRefreshes() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let first = try await stage.call(
            "social.hatk.push.registerToken", ada, #"{"token":"\#(appleToken)","platform":"apns","label":"old"}"#)
        let second = try await stage.call(
            "social.hatk.push.registerToken", ada,
            #"{"token":"\#(appleToken)","platform":"apns","label":"new","environment":"sandbox"}"#)
        #expect(first.json["id"] as? Int == second.json["id"] as? Int)
        let devices = try stage.tokens(of: ada)
        #expect(devices.count == 1)
        #expect(devices.first?.label == "new")
        #expect(devices.first?.environment == "sandbox")
        await stage.stop()
    }

    @Test func aDeviceMayBeSeveralAccounts() async throws {
        let stage = try PushStage()
        let (ada, bob) = (try stage.account("ada"), try stage.account("bob", .p256))
        let body = #"{"token":"\#(appleToken)","platform":"apns"}"#
        for account in [ada, bob] {
            #expect(try await stage.call("social.hatk.push.registerToken", account, body).status == 200)
        }
        #expect(try stage.tokens().count == 2)
        // Each forgets its own row alone.
        #expect(try await stage.call("social.hatk.push.unregisterToken", bob, body).status == 200)
        #expect(try stage.tokens().map(\.did) == [ada.did])
        await stage.stop()
    }

    @Test func theLongestUnseenMakesRoom() async throws {
        let stage = try PushStage { $0.devicesPerAccount = 3 }
        let ada = try stage.account("ada")
        func register(_ token: String) async throws {
            let answer = try await stage.call(
                "social.hatk.push.registerToken", ada, #"{"token":"\#(token)","platform":"apns"}"#)
            #expect(answer.status == 200)
        }
        for token in ["aaaa", "bbbb", "cccc", "aaaa", "dddd"] {
            try await register(token)
        }
        #expect(Set(try stage.tokens(of: ada).map(\.token)) == ["aaaa", "cccc", "dddd"])
        await stage.stop()
    }

    @Test func anAccountHasTwentyDevices() async throws {
        let stage = try PushStage()
        let (ada, bob) = (try stage.account("ada"), try stage.account("bob"))
        func register(_ account: Account, _ token: Int) async throws {
            let body = #"{"token":"\#(token + 1000)","platform":"apns"}"#
            #expect(try await stage.call("dev.hatk.push.registerToken", account, body).status == 200)
        }
        try await register(bob, 0)
        for number in 0..<20 { try await register(ada, number) }
        #expect(try stage.tokens(of: ada).count == 20)
        try await register(ada, 0)  // seen again
        for number in 20..<23 { try await register(ada, number) }
        #expect(Set(try stage.tokens(of: ada).map(\.token)) == Set(([0] + (4..<23)).map { "\($0 + 1000)" }))
        #expect(try stage.tokens(of: bob).count == 1)
        await stage.stop()
    }

    @Test func devicesAreListedAndRemovedByTheirOwnerAlone() async throws {
        let stage = try PushStage()
        let (ada, bob) = (try stage.account("ada"), try stage.account("bob"))
        let registered = try await stage.call(
            "social.hatk.push.registerToken", ada, #"{"token":"\#(appleToken)","platform":"apns","label":"phone"}"#)
        let id = try #require(registered.json["id"] as? Int)
        let list = try await stage.call("social.hatk.push.listDevices", ada)
        #expect(list.status == 200)
        #expect(!list.text.contains(appleToken))
        let device = try #require((list.json["devices"] as? [[String: any Sendable]])?.first)
        #expect(device["tokenSuffix"] as? String == String(appleToken.suffix(8)))
        #expect(device["id"] as? Int == id)
        #expect(device["label"] as? String == "phone")

        #expect(try await stage.call("social.hatk.push.listDevices", bob).json["devices"] as? [String] == [])
        #expect(try await stage.call("social.hatk.push.removeDevice", bob, #"{"id":\#(id)}"#).status == 200)
        #expect(try stage.tokens().count == 1)
        #expect(try await stage.call("social.hatk.push.removeDevice", ada, #"{"id":\#(id)}"#).status == 200)
        #expect(try stage.tokens().isEmpty)
        await stage.stop()
    }

    static let badInputs: [(String, String)] = [
        ("no token", #"{"platform":"apns"}"#),
        ("no platform", #"{"token":"aabb"}"#),
        ("an unknown platform", #"{"token":"aabb","platform":"pager"}"#),
        ("a token that is no hexadecimal", #"{"token":"xyz!","platform":"apns"}"#),
        ("too few digits", #"{"token":"abc","platform":"apns"}"#),
        ("an empty token", #"{"token":"","platform":"apns"}"#),
        ("a number for a token", #"{"token":12,"platform":"apns"}"#),
        ("a token too long", #"{"token":"\#(String(repeating: "ab", count: 300))","platform":"apns"}"#),
        ("an unknown environment", #"{"token":"aabb","platform":"apns","environment":"staging"}"#),
        ("a topic with a line break", #"{"token":"aabb","platform":"apns","topic":"a\nb"}"#),
        ("a topic with a space", #"{"token":"aabb","platform":"apns","topic":"a b"}"#),
        ("a label too long", #"{"token":"aabb","platform":"apns","label":"\#(String(repeating: "x", count: 257))"}"#),
        ("a locale that is none", #"{"token":"aabb","platform":"apns","locale":"not a locale"}"#),
        ("a web token that is no subscription", #"{"token":"aabb","platform":"web"}"#),
        ("another account", #"{"token":"aabb","platform":"apns","did":"did:plc:bobaaaaaaaaaaaaaaaaaaaaa"}"#),
        ("no object", #"["aabb"]"#),
        ("no JSON", "token=aabb"),
        ("nothing", ""),
        ("a member twice", #"{"token":"aabb","token":"ccdd","platform":"apns"}"#),
        ("something behind it", #"{"token":"aabb","platform":"apns"} x"#),
        ("deep nesting", String(repeating: "[", count: 30_000)),
    ]

    @Test(arguments: badInputs)
    func refusesInput(name: String, body: String) async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let answer = try await stage.call("social.hatk.push.registerToken", ada, body)
        #expect(answer.status == 400, "\(name)")
        #expect(answer.error == "InvalidRequest", "\(name)")
        #expect(try stage.tokens().isEmpty)
        await stage.stop()
    }

    @Test func withoutPushTheMethodsAreNotThere() async throws {
        let stage = try PushStage { $0.isPushOn = false }
        let ada = try stage.account("ada")
        let answer = try await stage.call(
            "social.hatk.push.registerToken", ada, #"{"token":"aabb","platform":"apns"}"#)
        #expect(answer.status == 501)
        #expect(answer.error == "MethodNotImplemented")
        #expect(stage.directory.requests == 0)
        await stage.stop()
    }
}
