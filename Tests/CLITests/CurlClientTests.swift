import Crypto
import Foundation
import TestSupport
import Testing

/// `curl` registers devices at a real `hark serve`, with tokens that are put together by hand.
@Suite(
    .fewAtATime,
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed here"))
struct CurlClientTests {
    private static let ada = "did:plc:adaaaaaaaaaaaaaaaaaaaaaa"
    private static let device = String(repeating: "0123456789abcdef", count: 4)

    private func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private func serviceToken(_ method: String, _ key: PrivateKey) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let header = "{\"typ\":\"JWT\",\"alg\":\"\(key.curve.algorithm)\"}"
        let claims = """
            {"iss":"\(Self.ada)","aud":"\(ServeStage.did)#hark","lxm":"\(method)","iat":\(now),"exp":\(now + 60),
            "jti":"\(UUID().uuidString)"}
            """
        let signed = "\(base64URL(header.utf8)).\(base64URL(claims.utf8))"
        return "\(signed).\(base64URL(try key.sign([UInt8](signed.utf8))))"
    }

    /// The body and, in a line of its own, the status.
    private func curl(_ stage: ServeStage, _ method: String, _ key: PrivateKey, _ body: String) async throws -> String {
        let (exit, output) = try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "--silent", "--max-time", "60", "--write-out", "\n%{http_code}", "--data", body,
                "--header", "Authorization: Bearer \(try serviceToken(method, key))",
                "--header", "Content-Type: application/json", "http://127.0.0.1:\(stage.port)/xrpc/\(method)",
            ])
        #expect(exit.status == 0)
        return output
    }

    @Test(arguments: [Curve.k256, .p256])
    func registersAndUnregisters(curve: Curve) async throws {
        let key = try PrivateKey.generate(curve)
        try await ServeStage.run { stage in
            try await stage.list(Self.ada, key: key.publicKey.didKey)
            for family in ["social.hatk.push", "dev.hatk.push"] {
                let body = #"{"token":"\#(Self.device)","platform":"apns"}"#
                let registered = try await curl(stage, "\(family).registerToken", key, body)
                #expect(registered.wholeMatch(of: /\{"id":\d+\}\n200/) != nil, "\(registered)")
                #expect(try await stage.suffixes() == ["89abcdef"])
                #expect(try await curl(stage, "\(family).unregisterToken", key, body) == "{}\n200")
                #expect(try await stage.suffixes().isEmpty)
            }
            let body =
                #"{"serviceDid":"\#(ServeStage.did)","token":"\#(Self.device)","platform":"ios","appId":"com.grain.app"}"#
            #expect(try await curl(stage, "app.bsky.notification.registerPush", key, body) == "\n200")
            #expect(try await stage.suffixes() == ["89abcdef"])
            #expect(try await curl(stage, "app.bsky.notification.unregisterPush", key, body) == "\n200")
            #expect(try await stage.suffixes().isEmpty)

            let stranger = try PrivateKey.generate(curve)
            let refused = try await curl(stage, "social.hatk.push.registerToken", stranger, "{}")
            #expect(refused.contains(#""error":"InvalidToken""#))
            #expect(refused.hasSuffix("\n401"))
        }
    }
}
