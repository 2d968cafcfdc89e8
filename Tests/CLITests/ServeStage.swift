import Crypto
import Foundation
import FoundationNetworking
import Simulators
import TestSupport
import Testing

/// `hark serve` as a process, beside `hark simulate plc` as another, and a stand-in for Apple in this one.
struct ServeStage {
    static let did = "did:web:push.test"

    /// Runs `serve`; further commands find its configuration and database.
    let hark: HarkProcess
    let simulator: APNsSimulator
    let environment: [String: String]
    /// The port of the server, and the directory's URL.
    let port: Int
    let directory: String

    /// Hands a stage to `body`; both processes are ended after it, however it ends.
    /// - Parameter variables: what the server finds in its environment beside what aims it at the stand-in for Apple.
    static func run(
        deadTokens: Set<String> = [], plcFlags: [String] = [], variables: [String: String] = [:],
        _ body: (ServeStage) async throws -> Void
    ) async throws {
        let (hark, plc) = (try HarkProcess(), try HarkProcess())
        let (simulator, environment) = try apple(in: hark.folder.path, deadTokens: deadTokens)
        defer { simulator.stop() }
        async let directory = plc.run(["simulate", "plc"] + plcFlags)
        async let serving = serve(hark, environment.merging(variables) { $1 }, plc)
        do {
            let url = try await url(of: plc)
            let port = try await port(of: hark)
            try await body(
                ServeStage(hark: hark, simulator: simulator, environment: environment, port: port, directory: url))
        } catch {
            hark.kill(SIGTERM)
            plc.kill(SIGTERM)
            _ = try? await (directory, serving)
            throw error
        }
        hark.kill(SIGTERM)
        #expect(try await serving.status == 0)
        plc.kill(SIGTERM)
        #expect(try await directory.status == 0)
    }

    /// Starts a stand-in for Apple; its key, roots and configuration go into the folder.
    static func apple(
        in folder: String, deadTokens: Set<String> = []
    ) throws -> (APNsSimulator, environment: [String: String]) {
        let credentials = try APNsCredentials.generate(bundleID: "com.grain.app")
        var options = APNsSimulator.Options(providers: [credentials])
        // Dead since tomorrow, so that no registration is newer.
        let death = Int64(Date().timeIntervalSince1970 * 1000) + 86_400_000
        for token in deadTokens { options.deadTokens.updateValue(death, forKey: token) }
        let simulator = try APNsSimulator(options)
        try simulator.start()
        try credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)
        let environment = [
            "HARK_APNS_HOST": "127.0.0.1:\(simulator.port)", "HARK_APNS_CA_FILE": folder + "/ca.pem",
        ]
        return (simulator, environment)
    }

    /// Serves once the directory has a port.
    private static func serve(
        _ hark: HarkProcess, _ environment: [String: String], _ plc: HarkProcess
    ) async throws -> HarkProcess.Result {
        let own = "did: \"\(did)\", listen: \"127.0.0.1:0\", plc: \"\(try await url(of: plc))\","
        let written = try String(contentsOf: hark.folder.appendingPathComponent("hark.json5"), encoding: .utf8)
        try hark.write("{ \(own) \(written.dropFirst())", to: "hark.json5")
        return try await hark.run(["serve"], environment: environment)
    }

    private static func url(of plc: HarkProcess) async throws -> String {
        try await waiting { try plc.runningOutput().firstMatch(of: /listening on (http:\S+) with/)?.1 }
    }

    private static func port(of hark: HarkProcess) async throws -> Int {
        let text = try await waiting { try hark.runningLog().firstMatch(of: /"op":"listening".*?"port":"(\d+)"/)?.1 }
        return try #require(Int(text))
    }

    /// What `text` gives once it gives something.
    static func waiting(for text: () throws -> Substring?) async throws -> String {
        let limit = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < limit {
            if let text = try text() { return String(text) }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CancellationError()
    }

    /// Lists an account in the directory, under a public key.
    func list(_ did: String, key: String) async throws {
        var request = URLRequest(
            url: try #require(URL(string: "\(directory)/_simulate/account?did=\(did)&key=\(key)")))
        request.httpMethod = "POST"
        let (_, response) = try await URLSession.shared.data(for: request)
        try #require((response as? HTTPURLResponse)?.statusCode == 200)
    }

    /// The last characters of every device that is registered.
    func suffixes() async throws -> [String] {
        let result = try await hark.run(["tokens", "list", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        return (object?["tokens"] as? [[String: Any]] ?? []).compactMap { $0["suffix"] as? String }
    }
}
