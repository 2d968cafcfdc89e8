import Foundation
import TestSupport
import Testing

private enum AtprotoPackage {
    static let environment = PythonEnvironment(package: "atproto", version: "0.0.73")
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Python/register.py").path
}

@Suite(
    .fewAtATime,
    .enabled("the Python package atproto cannot be installed here") { await AtprotoPackage.environment.python != nil })
struct PythonClientTests {
    /// Against a real `hark serve`, whose directory lists the account under the key that Python has made.
    @Test(arguments: ["k256", "p256"])
    func registersPutsSettingsAndUnregisters(curve: String) async throws {
        try await ServeStage.run { stage in
            let answers = try await self.answers(stage, curve)
            #expect(answers.count == 13)
            for (index, family) in ["social.hatk.push", "dev.hatk.push"].enumerated() {
                let part = answers.dropFirst(index * 5).prefix(5)
                #expect(part.first?.hasPrefix("\(family).registerToken 200 {\"id\": ") == true)
                #expect(part.dropFirst().first?.contains("\"tokenSuffix\": \"89abcdef\"") == true)
                let settings =
                    #"{"push": false, "types": [{"from": "follows", "push": true, "type": "follow"}]}"#
                #expect(
                    Array(part.dropFirst(2).prefix(2)) == [
                        "\(family).putSettings 200 \(settings)", "\(family).getSettings 200 \(settings)",
                    ])
                #expect(part.last == "\(family).unregisterToken 200 {}")
            }
            #expect(
                Array(answers.suffix(3)) == [
                    "app.bsky.notification.registerPush True", "app.bsky.notification.unregisterPush True",
                    "refused 401 BadJwtLexiconMethod",
                ])
            #expect(try await stage.suffixes().isEmpty)
        }
    }

    /// What the script prints, a line a call.
    private func answers(_ stage: ServeStage, _ curve: String) async throws -> [String] {
        let account = "did:plc:adaaaaaaaaaaaaaaaaaaaaaa"
        let (input, output) = (Pipe(), Pipe())
        let python = try ChildProcess(
            try #require(await AtprotoPackage.environment.python),
            [AtprotoPackage.script, "\(stage.port)", ServeStage.did, account, curve],
            input: .descriptor(input.fileHandleForReading.fileDescriptor),
            output: .descriptor(output.fileHandleForWriting.fileDescriptor))
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        let key = try await text(of: output, untilLineBreak: true)
        try await stage.list(account, key: String(key.prefix { $0 != "\n" }))
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        let answers = try await text(of: output).split(separator: "\n").map(String.init)
        #expect(await python.exit.status == 0)
        return answers
    }

    /// What is written into a pipe, to its end or to the first line break. Waits on a thread that may.
    private func text(of pipe: Pipe, untilLineBreak: Bool = false) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                var bytes = Data()
                while true {
                    let part = pipe.fileHandleForReading.availableData
                    bytes += part
                    if part.isEmpty || untilLineBreak && bytes.contains(UInt8(ascii: "\n")) { break }
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
