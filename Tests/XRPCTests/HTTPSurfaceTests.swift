import ATProto
import TestSupport
import Testing

@testable import XRPC

/// What the server says to requests that are none of its methods', or are not made as they should be.
@Suite(.fewAtATime) struct HTTPSurfaceTests {
    private let register = "/xrpc/social.hatk.push.registerToken"

    @Test func namesItselfAndItsServices() async throws {
        let stage = try PushStage()
        let answer = try await WireClient.ask(stage.server.port, "GET", "/.well-known/did.json")
        #expect(answer.status == 200)
        #expect(answer.json["id"] as? String == PushStage.did)
        let services = answer.json["service"] as? [[String: String]]
        #expect(services?.map { $0["id"] } == ["#hark", "#bsky_notif"])
        #expect(services?.allSatisfy { $0["serviceEndpoint"] == "https://push.test" } == true)
        await stage.stop()
    }

    @Test func healthAndFigures() async throws {
        let stage = try PushStage {
            $0.health = { (false, Array(#"{"ok":false}"#.utf8)) }
            $0.metrics = { $0.gauge("hark_other", "Something else.", 1) }
        }
        #expect(try await WireClient.ask(stage.server.port, "GET", "/_health").status == 503)
        let ada = try stage.account("ada")
        #expect(try await stage.call("social.hatk.push.listDevices", ada).status == 200)
        let figures = try await WireClient.ask(stage.server.port, "GET", "/metrics").text
        #expect(figures.hasPrefix("# HELP hark_other Something else.\n# TYPE hark_other gauge\nhark_other 1\n"))
        #expect(figures.contains(#"hark_xrpc_requests_total{method="social.hatk.push.listDevices",status="200"} 1"#))
        #expect(!figures.contains(ada.did))
        await stage.stop()
    }

    @Test func refusesWithTheRightStatus() async throws {
        let stage = try PushStage()
        let port = stage.server.port
        let json: KeyValuePairs = ["Content-Type": "application/json"]
        let verb = try await WireClient.ask(port, "GET", register)
        #expect(verb.status == 405)
        #expect(verb.headers["allow"] == "POST, OPTIONS")
        #expect(try await WireClient.ask(port, "POST", "/_health", body: []).status == 405)
        #expect(try await WireClient.ask(port, "GET", "/nowhere").status == 404)
        #expect(try await WireClient.ask(port, "GET", "/xrpc/not-a-method").status == 400)
        let unknown = try await WireClient.ask(port, "GET", "/xrpc/com.example.unknown")
        #expect(unknown.status == 501)
        #expect(unknown.error == "MethodNotImplemented")
        let plain: KeyValuePairs = ["Content-Type": "text/plain"]
        #expect(try await WireClient.ask(port, "POST", register, headers: plain, body: Array("{}".utf8)).status == 415)
        let long = [UInt8](repeating: 0x20, count: 65 << 10)
        #expect(try await WireClient.ask(port, "POST", register, headers: json, body: long).status == 413)
        let huge: KeyValuePairs = ["X-Long": String(repeating: "x", count: 14 << 10)]
        #expect(try await WireClient.ask(port, "GET", "/_health", headers: huge).status == 431)
        #expect(try await WireClient.ask(port, "GET", "/_health").status == 200)
        await stage.stop()
    }

    @Test func pagesOfOtherOriginsMayCall() async throws {
        let stage = try PushStage()
        let preflight = try await WireClient.ask(stage.server.port, "OPTIONS", register)
        #expect(preflight.status == 204)
        #expect(preflight.headers["access-control-allow-origin"] == "*")
        #expect(preflight.headers["access-control-allow-methods"] == "POST, OPTIONS")
        #expect(preflight.headers["access-control-allow-headers"]?.contains("Authorization") == true)
        await stage.stop()
    }

    @Test func manyRequestsOfOneAddressAreSlowedDown() async throws {
        let stage = try PushStage {
            $0.limits.requestBurst = 3
            $0.limits.requestsPerSecond = 0.01
        }
        let client = try WireClient(port: stage.server.port)
        for _ in 1...3 { #expect(try await client.ask("GET", "/_health").status == 200) }
        let refused = try await client.ask("GET", "/_health")
        #expect(refused.status == 429)
        #expect(refused.error == "RateLimitExceeded")
        #expect(refused.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
        await stage.stop()
    }

    @Test func slowHeadersCostOnlyTheirConnection() async throws {
        let stage = try PushStage { $0.limits.transferTimeout = .milliseconds(600) }
        let slow = try WireClient(port: stage.server.port)
        try await slow.send("GET /_health HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        #expect(try await WireClient.ask(stage.server.port, "GET", "/_health").status == 200)
        #expect(try await slow.isClosed())
        await stage.stop()
    }
}
