import Crypto
import Foundation
import Storage
import TestSupport
import Testing

@testable import XRPC

@Suite(.fewAtATime) struct SettingsTests {
    private static let put = "social.hatk.push.putSettings"
    private static let get = "social.hatk.push.getSettings"

    @Test(arguments: ["social.hatk.push", "dev.hatk.push"])
    func whatIsPutIsThere(family: String) async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let first = try await stage.call("\(family).getSettings", ada)
        #expect(first.status == 200)
        #expect(first.text.hasSuffix(#"{"push":true,"types":[]}"#), "\(first.text)")
        let answer = try await stage.call(
            "\(family).putSettings", ada,
            #"{"push":false,"types":[{"type":"b","from":"follows"},{"type":"a","push":false}]}"#)
        let whole =
            #"{"push":false,"types":[{"from":"all","push":false,"type":"a"},{"from":"follows","push":true,"type":"b"}]}"#
        #expect(answer.status == 200)
        try expect(answer, whole)
        try expect(try await stage.call("\(family).getSettings", ada), whole)
        await stage.stop()
    }

    /// The same JSON, whatever the order of members.
    private func expect(_ answer: WireAnswer, _ json: String) throws {
        let wanted = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? NSDictionary
        #expect(answer.json as NSDictionary == wanted, "\(answer.text)")
    }

    @Test func puttingMerges() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada", .p256)
        let bodies = [
            #"{"types":[{"type":"a","push":false}]}"#, #"{"types":[{"type":"a","from":"follows"}]}"#,
            #"{"push":false}"#, #"{"types":[{"type":"b","push":true}],"push":null}"#,
            #"{"types":[],"did":"\#(ada.did)","beyond":1}"#,
        ]
        for body in bodies { #expect(try await stage.call(Self.put, ada, body).status == 200, "\(body)") }
        try expect(
            try await stage.call(Self.get, ada),
            #"{"push":false,"types":[{"type":"a","push":false,"from":"follows"},{"type":"b","push":true,"from":"all"}]}"#
        )
        let answer = try await stage.call(Self.put, ada, #"{"push":true,"types":[{"type":"a"},{"type":"b"}]}"#)
        try expect(answer, #"{"push":true,"types":[]}"#)
        await stage.stop()
    }

    @Test func everybodyHasTheirOwn() async throws {
        let stage = try PushStage()
        let (ada, bob) = (try stage.account("ada"), try stage.account("bob"))
        #expect(try await stage.call(Self.put, ada, #"{"push":false}"#).status == 200)
        try expect(try await stage.call(Self.get, bob), #"{"push":true,"types":[]}"#)
        let foreign = try await stage.call(Self.put, bob, #"{"push":true,"did":"\#(ada.did)"}"#)
        #expect(foreign.status == 400 && foreign.error == "InvalidRequest")
        try expect(try await stage.call(Self.get, ada), #"{"push":false,"types":[]}"#)
        #expect(try await stage.call(Self.get).status == 401)
        #expect(try await stage.call(Self.put, nil, #"{"push":false}"#).status == 401)
        let wrong = try await stage.call(Self.put, token: try ada.token(Self.get), #"{"push":true}"#)
        #expect(wrong.status == 401 && wrong.error == "BadJwtLexiconMethod")
        #expect(try await stage.call(Self.get, ada, "{}").status == 405)
        #expect(try await stage.call(Self.put, ada).status == 405)
        await stage.stop()
    }

    static let badInputs: [(body: String, message: String)] = [
        ("{}", "there is nothing to change: give push, types or both"),
        (#"{"push":null,"types":null}"#, "there is nothing to change: give push, types or both"),
        (#"{"push":"off"}"#, "push must be true or false"),
        (#"{"push":0}"#, "push must be true or false"),
        (#"{"types":{}}"#, "types must be an array"),
        (#"{"types":"a"}"#, "types must be an array"),
        (#"{"types":["a"]}"#, "types[0] must be an object"),
        (#"{"types":[{"push":true}]}"#, "types[0].type is missing"),
        (#"{"types":[{"type":"a"},{"type":""}]}"#, "types[1].type is empty"),
        (
            #"{"types":[{"type":"a","enabled":false}]}"#,
            #"types[0] has a member "enabled": it may have type, push and from"#
        ),
        (#"{"types":[{"type":7}]}"#, "types[0].type must be a string"),
        (#"{"types":[{"type":"\#(String(repeating: "é", count: 65))"}]}"#, "types[0].type is longer than 128 bytes"),
        (#"{"types":[{"type":"a\u0000b","push":false}]}"#, "types[0].type holds control characters"),
        (#"{"types":[{"type":"a","push":"on"}]}"#, "types[0].push must be true or false"),
        (#"{"types":[{"type":"a","from":"mutuals"}]}"#, "types[0].from must be all or follows"),
        (#"{"types":[{"type":"a","from":true}]}"#, "types[0].from must be a string"),
        (#"{"types":[{"type":"a","push":true},{"type":"a","push":false}]}"#, "types[1].type stands in types twice"),
        (
            #"{"types":[\#((0...100).map { #"{"type":"\#($0)"}"# }.joined(separator: ","))]}"#,
            "types holds more than 100"
        ),
    ]

    @Test(arguments: badInputs) func refuses(_ input: (body: String, message: String)) async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        #expect(try await stage.call(Self.put, ada, #"{"types":[{"type":"a","push":false}]}"#).status == 200)
        let answer = try await stage.call(Self.put, ada, input.body)
        #expect(answer.status == 400)
        #expect(answer.error == "InvalidRequest")
        #expect(answer.json["message"] as? String == input.message)
        try expect(
            try await stage.call(Self.get, ada), #"{"push":true,"types":[{"type":"a","push":false,"from":"all"}]}"#)
        await stage.stop()
    }

    @Test func theNumberOfTypesIsBounded() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        func types(_ range: Range<Int>) -> String {
            #"{"types":[\#(range.map { #"{"type":"t\#($0)","push":false}"# }.joined(separator: ","))]}"#
        }
        #expect(try await stage.call(Self.put, ada, types(0..<100)).status == 200)
        let refused = try await stage.call(Self.put, ada, types(99..<101))
        #expect(refused.status == 400 && refused.error == "InvalidRequest")
        let message = try #require(refused.json["message"] as? String)
        #expect(message.hasPrefix("an account may have settings for 100 types"))
        #expect((try await stage.call(Self.get, ada).json["types"] as? [Any])?.count == 100)
        await stage.stop()
    }

    /// Each of our methods has its lexicon, in both families' one shape.
    @Test func everyMethodHasItsLexicon() async throws {
        let stage = try PushStage()
        let rules = DeviceInput.Rules(platforms: [], environment: "sandbox", server: "did:web:push.test")
        let methods = PushMethods(database: stage.database, rules: rules, deviceLimit: 20, now: { 0 }).all
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/XRPC/Lexicons")
        var described: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let lexicon = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any], "\(file)")
            let id = try #require(lexicon["id"] as? String)
            #expect(file.lastPathComponent == id + ".json")
            let main = try #require((lexicon["defs"] as? [String: [String: Any]])?["main"])
            let method = try #require(methods.first { $0.nsid == id })
            #expect(main["type"] as? String == (method.kind == .query ? "query" : "procedure"))
            described.insert(id)
        }
        #expect(described == Set(methods.map(\.nsid).filter { $0.hasPrefix("social.hatk.push.") }))
        let names = described.map { $0.replacing("social.", with: "dev.") }
        #expect(Set(names).isSubset(of: methods.map(\.nsid)))
        await stage.stop()
    }

    /// Putting off is heeded by the transaction that queues next, and the device stays.
    @Test func whatIsOffIsNotQueued() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let body = #"{"token":"\#(appleToken)","platform":"apns"}"#
        #expect(try await stage.call("social.hatk.push.registerToken", ada, body).status == 200)
        func queue(_ uri: String) async throws -> OutboxWrites {
            let entry = OutboxEntry(
                did: ada.did, hook: "h", uri: uri, rev: "r", place: 0, type: "gallery-favorite", payload: [],
                collapseID: nil, priority: 10, pushType: "alert", expiresAt: .max)
            return try await stage.database.write { try $0.finish(job: 1, notifications: [entry], now: 1) }
        }
        #expect(try await queue("at://x/a.b.c/1").queued == 1)
        let off = #"{"types":[{"type":"gallery-favorite","push":false}]}"#
        #expect(try await stage.call(Self.put, ada, off).status == 200)
        #expect(try await queue("at://x/a.b.c/2").turnedOff == 1)
        #expect(try stage.tokens(of: ada).count == 1)
        await stage.stop()
    }

    @Test func withoutPushThereAreNoSettings() async throws {
        let stage = try PushStage { $0.isPushOn = false }
        let ada = try stage.account("ada")
        let answer = try await stage.call(Self.get, ada)
        #expect(answer.status == 501 && answer.error == "MethodNotImplemented")
        await stage.stop()
    }
}
