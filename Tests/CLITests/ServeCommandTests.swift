import Crypto
import Foundation
import FoundationNetworking
import Simulators
import TestSupport
import Testing
import XRPC

/// `hark serve` as a process, with a directory of identities on this machine.
@Suite(.fewAtATime) struct ServeCommandTests {
    private static let did = "did:web:push.test"
    private static let ada = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
    private static let token = String(repeating: "0123456789abcdef", count: 3) + "89abcdefdeadbeef"

    /// Answers with the document of one account, and 404 for all others.
    private func directory(_ key: PublicKey) throws -> HTTPServer {
        let document = """
            {"id":"\(Self.ada)","verificationMethod":[{"id":"\(Self.ada)#atproto","type":"Multikey",
            "controller":"\(Self.ada)","publicKeyMultibase":"\(key.multikey)"}]}
            """
        return try HTTPServer(listen: "127.0.0.1:0", refusals: { HTTPResponse(status: $0.status) }) { request in
            guard request.path == "/" + Self.ada else { return .now(HTTPResponse(status: 404)) }
            return .now(HTTPResponse(contentType: "application/json", body: [UInt8](document.utf8)))
        }
    }

    private func serviceToken(_ method: String, _ key: PrivateKey) throws -> String {
        let claims = """
            {"iss":"\(Self.ada)","aud":"\(Self.did)","lxm":"\(method)","jti":"\(UUID().uuidString)",
            "exp":\(Int(Date().timeIntervalSince1970) + 60)}
            """
        let header = "{\"typ\":\"JWT\",\"alg\":\"\(key.curve.algorithm)\"}"
        return try JSONWebToken(header: [UInt8](header.utf8), claims: [UInt8](claims.utf8), signedBy: key).text
    }

    /// The configuration's own members stand in front of `rest`, which holds what follows the opening brace.
    private func configure(_ hark: HarkProcess, plc: UInt16, _ rest: String) throws {
        let own = "did: \"\(Self.did)\", listen: \"127.0.0.1:0\", plc: \"http://127.0.0.1:\(plc)\","
        try hark.write("{ \(own) \(rest)", to: "hark.json5")
    }

    private func ask(
        _ port: Int, _ path: String, bearer: String? = nil, body: String? = nil
    ) async throws -> (status: Int, text: String) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.timeoutInterval = 20
        if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
        if let body {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    @Test func logsWhyAKeyIsNotTakenUp() async throws {
        try await ServeStage.run { stage in
            try stage.hark.write("{ push: {", to: "hark.json5")
            #expect(stage.hark.kill(SIGHUP))
            let line = try await ServeStage.waiting {
                try stage.hark.runningLog().split(separator: "\n").first { $0.contains("SIGHUP") }
            }
            let logged = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
            #expect(logged?["op"] == "key_refused")
            #expect(logged?["error"]?.hasPrefix("hark.json5:1:10: ") == true, "\(line)")
        }
    }

    @Test func registersOverTheWireAndStopsWhenAsked() async throws {
        let hark = try HarkProcess()
        let key = try PrivateKey.generate(.k256)
        let directory = try directory(key.publicKey)
        let credentials = try APNsCredentials.generate(bundleID: "com.grain.app")
        let simulator = try APNsSimulator(APNsSimulator.Options(providers: [credentials]))
        try simulator.start()
        defer { simulator.stop() }
        _ = try credentials.write(to: hark.folder.path, caPEM: simulator.caPEM, port: simulator.port)
        let written = try String(contentsOf: hark.folder.appendingPathComponent("hark.json5"), encoding: .utf8)
        try configure(hark, plc: directory.port, String(written.dropFirst()))

        let environment = [
            "HARK_APNS_HOST": "127.0.0.1:\(simulator.port)", "HARK_APNS_CA_FILE": hark.folder.path + "/ca.pem",
        ]
        async let run = hark.run(["serve"], environment: environment)
        let port = try await hark.listeningPort()

        let health = try await ask(port, "/_health")
        #expect(health.status == 200)
        #expect(
            health.text == """
                {"ok":true,"version":"0.1.0","channels":["apns"],"source":{"cursor":null,"lag":null},\
                "queue":{"due":0,"retry":0,"dead":0,"oldest":0}}
                """)
        #expect(try await ask(port, "/_admin").status == 404, "off unless a token is configured")

        let method = "social.hatk.push.registerToken"
        let body = #"{"token":"\#(Self.token)","platform":"apns","label":"Ada's phone"}"#
        let stranger = try serviceToken(method, try PrivateKey.generate(.k256))
        #expect(try await ask(port, "/xrpc/\(method)", bearer: stranger, body: body).status == 401)
        let registered = try await ask(port, "/xrpc/\(method)", bearer: serviceToken(method, key), body: body)
        #expect(registered.status == 200)
        let listed = try await hark.run(["tokens", "list", "--did", Self.ada])
        #expect(listed.output.contains("deadbeef"))

        let text = try await ask(port, "/metrics").text
        #expect(!text.contains("did:plc"))
        let figures = try Exposition(text)
        #expect(figures["hark_xrpc_requests_total", ["method": method, "status": "200"]] == 1)
        #expect(figures["hark_push_queue", ["state": "due"]] == 0)
        #expect(figures["hark_hook_seconds_count", ["hook": "OnCommitFollow"]] == 0)
        #expect(figures["hark_push_jwt_renewals_total", ["channel": "apns"]] == 0)
        #expect(figures.types.count > 20)

        let start = ContinuousClock.now
        hark.kill(SIGTERM)
        let result = try await run
        #expect(start.duration(to: .now) < .seconds(5))
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.errors.contains(Self.token))
        await directory.stop(deadline: .zero)
    }

    @Test func withoutPushItServesAndSaysSo() async throws {
        let hark = try HarkProcess()
        try configure(hark, plc: 1, "}")
        async let run = hark.run(["serve"])
        let port = try await hark.listeningPort()
        #expect(try await ask(port, "/_health").text.contains(#""channels":[]"#))
        let answer = try await ask(port, "/xrpc/social.hatk.push.registerToken", bearer: "x", body: "{}")
        #expect(answer.status == 501)
        hark.kill(SIGTERM)
        let result = try await run
        #expect(result.status == 0)
        #expect(result.errors.contains(#""module":"push","op":"off""#))
    }

    @Test func needsAName() async throws {
        let hark = try HarkProcess()
        let result = try await hark.run(["serve"])
        #expect(result.status == 2)
        #expect(result.errors.contains("set did"))
    }
}
