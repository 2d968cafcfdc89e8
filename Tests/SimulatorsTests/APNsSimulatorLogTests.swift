import Crypto
import FoundationEssentials
import Net
import Synchronization
import TestSupport
import Testing

@testable import Simulators

/// The log, and the folder of credentials.
@Suite(.fewAtATime) struct APNsSimulatorLogTests {
    let provider: TestProvider
    let good: TestPush

    init() throws {
        provider = try TestProvider()
        good = try TestPush(provider)
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/hark-apns-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private func lines(of path: String) throws -> [PayloadValue] {
        let data = try #require(FileManager.default.contents(atPath: path))
        return try Array(data).split(separator: UInt8(ascii: "\n")).map { try PayloadParser.parse(Array($0)) }
    }

    @Test(arguments: [false, true]) func writesALineForEachRequest(showsTokens: Bool) async throws {
        try await withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let path = folder + "/log.jsonl"
            let simulator = try startSimulator(provider: provider) {
                $0.log = try .file(path, showsTokens: showsTokens)
            }
            let client = try APNsSimulatorClient(simulator)
            _ = await client.send(good.with("apns-collapse-id", "é\"b").with("apns-expiration", "1700000000"))
            _ = await client.send(good.with(body: "{broken"))
            _ = await client.send(good.with("apns-topic", nil))

            let lines = try lines(of: path)
            #expect(lines.count == 3)
            let token = showsTokens ? TestPush.token : "…89abcdef"
            #expect(lines.map { $0["token"]?.string } == [token, token, token])
            #expect(lines.map { $0["seq"]?.integer } == [1, 2, 3])
            #expect(lines.map { $0["status"]?.integer } == [200, 400, 400])
            #expect(lines.map { $0["reason"]?.string } == [nil, "PayloadEmpty", "MissingTopic"])
            let first = try #require(lines.first)
            #expect(first["payload"]?["aps"]?["alert"]?["title"]?.string == "Hello")
            #expect(first["expiration"]?.integer == 1_700_000_000 && first["priority"]?.integer == 10)
            #expect(first["collapseId"]?.string == "é\"b" && first["topic"]?.string == "com.example.app")
            #expect(lines[1]["payload"]?.string == "7 bytes" && lines[1]["detail"]?.string != nil)

            let text = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
            #expect(text.contains(TestPush.token) == showsTokens)
            #expect(!text.contains(provider.jwt) && !text.contains(provider.jwt.suffix(20)))
        }
    }

    @Test func hidesShortTokensWhole() {
        #expect(APNsLog.redacted("0123456789abcdef") == "…89abcdef")
        #expect(APNsLog.redacted("0123456789abcde") == "…")
        #expect(APNsLog.redacted("") == "…")
    }

    @Test func callsBackForEachPush() async throws {
        let seen = Mutex<[ReceivedPush]>([])
        let simulator = try startSimulator(provider: provider) { options in
            options.onPush = { push in seen.withLock { $0.append(push) } }
        }
        let client = try APNsSimulatorClient(simulator)
        for _ in 1...3 { _ = await client.send(good) }
        #expect(seen.withLock { $0 } == simulator.received)
    }

    @Test func refusesALogThatCannotBeWritten() {
        let error = #expect(throws: FileFailure.self) { try APNsLog.file("/nowhere/log") }
        #expect(error?.description == "/nowhere/log: No such file or directory")
    }

    @Test func writesAFolderToStartWith() async throws {
        try await withFolder { folder in
            let simulator = try startSimulator(provider: provider)
            let lines = try provider.credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)
            #expect(lines.first == "export HARK_APNS_HOST=127.0.0.1:\(simulator.port)")
            #expect(lines[1] == "export HARK_APNS_CA_FILE=\(folder)/ca.pem")

            let id = provider.credentials.keyID
            let key = try #require(FileManager.default.contents(atPath: "\(folder)/AuthKey_\(id).p8"))
            #expect(throws: Never.self) { try PrivateKey(pem: String(decoding: key, as: UTF8.self)) }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/AuthKey_\(id).p8")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let configuration = try #require(FileManager.default.contents(atPath: "\(folder)/hark.json5"))
            let text = String(decoding: configuration, as: UTF8.self)
            for part in [#"keyFile: "./AuthKey_\#(id).p8""#, #"keyId: "\#(id)""#, #"bundleId: "com.example.app""#] {
                #expect(text.contains(part))
            }
            // A client that has nothing but the folder's authority.
            _ = try TLSContext.client(caFile: "\(folder)/ca.pem")
            try provider.credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)

            // A configuration that a person wrote is not replaced.
            try Data("{ did: 'did:web:a.com' }\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/hark.json5"))
            let error = #expect(throws: FileFailure.self) {
                try provider.credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)
            }
            #expect(error?.description == "\(folder)/hark.json5 was there before: name another folder")
        }
        #expect(throws: FileFailure.self) {
            try provider.credentials.write(to: "/nowhere/at/all", caPEM: "", port: 1)
        }
    }

    @Test func makesKeysAndIDsOfItsOwn() throws {
        let other = try APNsCredentials.generate()
        #expect(other.keyPEM != provider.credentials.keyPEM && other.keyID != provider.credentials.keyID)
        #expect(other.keyID.utf8.count == 10 && other.teamID.utf8.count == 10)
        #expect(!String(describing: other).contains("PRIVATE") && !String(reflecting: other).contains("PRIVATE"))
        var broken = other
        broken.keyPEM = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        #expect(throws: KeyError.self) { try APNsSimulator(.init(providers: [broken])) }
    }
}
