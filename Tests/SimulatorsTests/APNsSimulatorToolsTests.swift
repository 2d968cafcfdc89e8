import Foundation
import TestSupport
import Testing

@testable import Simulators

/// The simulator under other people's HTTP/2 clients.
@Suite(.fewAtATime) struct APNsSimulatorToolsTests {
    static let curl = "/usr/bin/curl"
    static let h2load = "/usr/bin/h2load"

    private func withSimulator(
        _ change: (inout APNsSimulator.Options) throws -> Void = { _ in },
        _ body: (APNsSimulator, TestProvider, _ caFile: String) async throws -> Void
    ) async throws {
        let provider = try TestProvider()
        let simulator = try startSimulator(provider: provider, change)
        let caFile = FileManager.default.temporaryDirectory.path + "/hark-ca-\(UUID().uuidString).pem"
        try simulator.caPEM.write(toFile: caFile, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: caFile) }
        try await body(simulator, provider, caFile)
        simulator.stop()
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: curl), "curl is not installed"))
    func answersCurl() async throws {
        try await withSimulator { simulator, provider, caFile in
            let base = [
                "--silent", "--http2", "--cacert", caFile, "--max-time", "20", "--write-out",
                "\n%{http_code} h%{http_version}",
                "--header", "authorization: bearer \(provider.jwt)", "--header", "apns-topic: com.example.app",
                "--header", "content-type:", "--data-binary", TestPush.payload,
            ]
            let url = "https://localhost:\(simulator.port)/3/device/"
            let accepted = try await run(Self.curl, base + [url + TestPush.token])
            #expect(accepted == "\n200 h2")
            let refused = try await run(Self.curl, base + [url + "beef"])
            #expect(refused == #"{"reason":"BadDeviceToken"}"# + "\n400 h2")
            #expect(simulator.counts.accepted == 1 && simulator.received.first?.title == "Hello")
        }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: h2load), "h2load (nghttp2-client) is not installed"))
    func answersH2load() async throws {
        let body = FileManager.default.temporaryDirectory.path + "/hark-body-\(UUID().uuidString)"
        try TestPush.payload.write(toFile: body, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: body) }
        // h2load opens a burst of streams before it has read the limit, of which the strict simulator refuses all but one.
        try await withSimulator({ $0.strictness = .lenient }) { simulator, provider, _ in
            let output = try await run(
                Self.h2load,
                [
                    "-n", "3000", "-c", "2", "-m", "100", "-d", body, "-H", "authorization: bearer \(provider.jwt)",
                    "-H", "apns-topic: com.example.app",
                    "https://127.0.0.1:\(simulator.port)/3/device/\(TestPush.token)",
                ])
            #expect(output.contains("3000 succeeded, 0 failed"))
            #expect(simulator.counts.accepted == 3000)
        }
    }

    /// Standard output, which is short, of a program that ended well.
    private func run(_ program: String, _ arguments: [String]) async throws -> String {
        let (exit, output) = try await ChildProcess.run(program, arguments)
        #expect(exit.status == 0, "\(program)")
        return output
    }
}
