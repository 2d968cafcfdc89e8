import Foundation
import Runtime
import TestSupport
import Testing

/// What may run beside a Hark that is at work, and what may not.
@Suite(.fewAtATime) struct SharedDatabaseTests {
    @Test func oneHarkFeedsADatabaseAndOthersRegisterTokens() async throws {
        let hark = try HarkProcess()
        try hark.write("", to: "empty.jsonl")
        var configuration = Configuration()
        configuration.database = hark.folder.path + "/hark.db"
        let assembly = try Assembly(configuration, hooks: []) { _ in }

        let second = try await hark.run(["replay", "empty.jsonl"])
        #expect(second.status == 1)
        #expect(second.errors.split(separator: "\n").count == 1)
        #expect(second.errors.contains("another hark process"))

        let did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
        let token = try await hark.run(
            ["tokens", "add", "--did", did, "--platform", "apns"], input: "a1b2c3d4e5f60718")
        #expect(token.status == 0, "\(token.errors)")
        #expect(try await hark.run(["check"]).status == 0)

        await assembly.stop()
        #expect(try await hark.run(["replay", "empty.jsonl"]).status == 0)
    }
}
