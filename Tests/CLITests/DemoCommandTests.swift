import Foundation
import TestSupport
import Testing

@Suite(.fewAtATime) struct DemoCommandTests {
    @Test func comesOutAsItShould() async throws {
        let hark = try HarkProcess()
        let result = try await hark.run(["demo", "--json"], environment: ["TMPDIR": hark.folder.path])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.isEmpty)
        let report = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        #expect((report?["differences"] as? [String])?.isEmpty == true)
        #expect(report?["sentAgain"] as? Int == 0)
        #expect((report?["tokensRemoved"] as? [String])?.isEmpty == false)
        let left = try FileManager.default.contentsOfDirectory(atPath: hark.folder.path)
        #expect(!left.contains { $0.hasPrefix("hark-demo") }, "the demo clears up after itself")
    }
}
