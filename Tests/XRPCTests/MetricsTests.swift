import TestSupport
import Testing

@testable import XRPC

/// The figures as Prometheus reads them.
@Suite(.fewAtATime) struct MetricsTests {
    @Test func writesWhatTheFormatAsksFor() throws {
        var metrics = MetricsText()
        metrics.counter("a_total", "Things.", 3)
        metrics.counter("none_total", "Nothing yet.", [])
        metrics.gauge(
            "b", "By kind.", [.init(-1, ["kind": "x", "of": "y"]), .init(2, ["kind": "quote \" slash \\ line\nend"])])
        metrics.histogram(
            "c_seconds", "Times.",
            [
                .init(
                    labels: ["hook": "h"], bounds: [.milliseconds(1), .milliseconds(2500), .seconds(30)],
                    classes: [2, 0, 1, 4], sum: .milliseconds(1500)),
                .init(labels: [:], bounds: [.seconds(1)], classes: [0, 0], sum: .zero),
            ])
        #expect(
            metrics.text == #"""
                # HELP a_total Things.
                # TYPE a_total counter
                a_total 3
                # HELP none_total Nothing yet.
                # TYPE none_total counter
                # HELP b By kind.
                # TYPE b gauge
                b{kind="x",of="y"} -1
                b{kind="quote \" slash \\ line\nend"} 2
                # HELP c_seconds Times.
                # TYPE c_seconds histogram
                c_seconds_bucket{hook="h",le="0.001"} 2
                c_seconds_bucket{hook="h",le="2.5"} 2
                c_seconds_bucket{hook="h",le="30.0"} 3
                c_seconds_bucket{hook="h",le="+Inf"} 7
                c_seconds_sum{hook="h"} 1.5
                c_seconds_count{hook="h"} 7
                c_seconds_bucket{le="1.0"} 0
                c_seconds_bucket{le="+Inf"} 0
                c_seconds_sum 0.0
                c_seconds_count 0

                """#)
        let read = try Exposition(metrics.text)
        #expect(read["b", ["kind": "quote \" slash \\ line\nend"]] == 2)
    }

    @Test func countsCallsAndDocuments() async throws {
        let stage = try PushStage { $0.metrics = { _ in } }
        let ada = try stage.account("ada")
        for _ in 0..<2 { #expect(try await stage.call("social.hatk.push.listDevices", ada).status == 200) }
        let bad = try await stage.call("social.hatk.push.listDevices", token: "x")
        #expect(bad.status == 401)
        for path in ["/xrpc/com.example.one", "/xrpc/com.example.two", "/xrpc/no-method"] {
            _ = try await WireClient.ask(stage.server.port, "GET", path)
        }
        let answer = try await WireClient.ask(stage.server.port, "GET", "/metrics")
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let figures = try Exposition(answer.text)
        let method = "social.hatk.push.listDevices"
        #expect(figures["hark_xrpc_requests_total", ["method": method, "status": "200"]] == 2)
        #expect(figures["hark_xrpc_requests_total", ["method": method, "status": "401"]] == 1)
        // Strangers make no series.
        #expect(figures["hark_xrpc_requests_total", ["method": "other", "status": "501"]] == 2)
        #expect(figures["hark_xrpc_requests_total", ["method": "other", "status": "400"]] == 1)
        #expect(figures["hark_did_lookups_total", ["result": "miss"]] == 1)
        #expect(figures["hark_did_lookups_total", ["result": "hit"]] == 1)
        #expect(figures["hark_did_fetches_total", [:]] == 1)
        #expect(figures["hark_auth_used_tokens", [:]] == 2)
        #expect(figures["hark_http_connections", [:]].map { $0 >= 1 } == true)
        #expect(!answer.text.contains("did:plc") && !answer.text.contains("com.example"))
        await stage.stop()
    }
}
