import Foundation
import TestSupport
import Testing

@Suite(.fewAtATime) struct TokensCommandTests {
    private static let ada = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
    private static let bob = "did:plc:44ybard66vv44zksje25o7dz"
    private static let token = "0123456789abcdef0123456789abcdef0123456789abcdef01234567deadbeef"

    private func add(_ hark: HarkProcess, _ did: String, _ token: String, _ flags: [String] = []) async throws -> String
    {
        let words = ["tokens", "add", "--did", did, "--platform", "apns"] + flags
        let result = try await hark.run(words, input: token)
        #expect(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .newlines)
    }

    private func list(_ hark: HarkProcess, _ did: String) async throws -> [[String: Any]] {
        let result = try await hark.run(["tokens", "list", "--did", did, "--json"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.output.contains(Self.token))
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        return try #require(object?["tokens"] as? [[String: Any]])
    }

    @Test func addsListsAndRemoves() async throws {
        let hark = try HarkProcess()
        let id = try await add(
            hark, Self.ada, " \(Self.token)\r\n", ["--environment", "sandbox", "--label", "Ada's 📱"])
        #expect(Int(id) != nil)
        let again = try await add(hark, Self.ada, Self.token, ["--environment", "sandbox", "--label", "Ada's 📱"])
        #expect(again == id, "registering again keeps the id")

        let devices = try await list(hark, Self.ada)
        #expect(devices.count == 1)
        #expect(devices.first?["suffix"] as? String == "deadbeef")
        #expect(devices.first?["environment"] as? String == "sandbox")
        #expect(devices.first?["label"] as? String == "Ada's 📱")
        #expect(try await list(hark, Self.bob).isEmpty)

        let foreign = try await hark.run(["tokens", "remove", id, "--did", Self.bob])
        #expect(foreign.status == 1)
        #expect(try await list(hark, Self.ada).count == 1)
        let removal = try await hark.run(["tokens", "remove", id])
        #expect(removal.status == 0)
        #expect(try await list(hark, Self.ada).isEmpty)
        let second = try await hark.run(["tokens", "remove", id])
        #expect(second.status == 1)
        #expect(second.errors.split(separator: "\n").count == 1)
    }

    @Test func showsPeopleSuffixesOnly() async throws {
        let hark = try HarkProcess()
        _ = try await add(hark, Self.ada, Self.token, ["--label", "\u{1B}[2J\u{202E}evil"])
        let result = try await hark.run(["tokens", "list"])
        #expect(result.output.contains("…deadbeef"))
        #expect(!result.output.contains("67deadbeef"))
        #expect(!result.output.contains("\u{1B}"))
        #expect(!result.output.contains("\u{202E}"))
    }
}
