import Foundation
import TestSupport
import Testing

@testable import XRPC

/// A desk all of whose texts are markup that would run.
private struct MarkupDesk: AdminDesk {
    static let markup = #"<img src=x onerror="window.ran=1"></script><script>window.ran=1</script>&lt;b&gt;'"#

    private static let row = #"""
        {"id":1,"state":"dead","did":"did:M","hook":"M","uri":"at://M/javascript:window.ran=1","rev":"M","suffix":"M",
        "environment":"M","attempts":1,"reason":"M","fate":"M","failedAt":"M","nextAttemptAt":"M"}
        """#

    private func json(_ template: String) throws -> [UInt8] {
        let quoted = String(decoding: try JSONEncoder().encode(Self.markup).dropFirst().dropLast(), as: UTF8.self)
        return Array(
            template.replacing("ROW", with: Self.row).replacing("M\"", with: quoted + "\"")
                .replacing("M/", with: quoted + "/").utf8)
    }

    func overview() async throws -> [UInt8] {
        try json(
            #"""
            {"did":"M","version":"M","started":"M","push":false,
            "source":{"name":"M","cursor":1,"lag":null,"updatedAt":"M"},
            "counts":{"events":1,"commits":1,"ops":1,"created":1,"updated":0,"deleted":0},
            "skipped":[{"reason":"M","count":1}],"sends":[{"result":"M","reason":"M","count":1}],
            "outcomes":[{"channel":"M","outcome":"M","reason":"M","count":1}],
            "connections":[{"channel":"M","connections":1,"streams":1}],
            "queue":{"due":1,"retry":0,"running":0,"dead":60,"oldest":5},"dead":[ROW],"waiting":[ROW],
            "hooks":[{"name":"M","collections":["M"],"runs":1,"errors":1,"meanMilliseconds":0.5,
            "longestMilliseconds":1200,"lastError":{"at":"M","uri":"M","error":"M"}}]}
            """#)
    }

    func deadLetters(before id: Int64?) async throws -> [UInt8] { try json(#"{"pushes":[]}"#) }

    func devices(did: String, after place: String?) async throws -> [UInt8] {
        try json(
            #"""
            {"total":{"devices":1,"accounts":1},"next":"M","devices":[{"id":1,"did":"M","platform":"M",
            "environment":"M","topic":"M","label":"M","tokenSuffix":"M","createdAt":"M","lastSeenAt":"M"}]}
            """#)
    }

    func explanation(of uri: String) async throws -> [UInt8] {
        if uri == "refused" { throw XRPCError.invalidRequest(Self.markup) }
        return try json(
            #"""
            {"uri":"M","collection":"M","text":"M","push":true,"hooks":[{"name":"M","summary":"M","pushes":[ROW],
            "notes":[{"did":"M","meaning":"M","at":"M"},{"did":null,"meaning":"M","at":"M"}]}]}
            """#)
    }

    func retry(_ selection: AdminSelection) async throws -> [UInt8] {
        try json(#"{"done":0,"refused":[{"id":1,"reason":"M"}]}"#)
    }

    func drop(_ selection: AdminSelection) async throws -> [UInt8] { throw XRPCError.invalidRequest(Self.markup) }
}

/// Markup in what hooks, records, devices and push services say is shown, and never runs.
@Suite(
    .fewAtATime, .enabled(if: Browser.isInstalled, "Chromium and its driver are not installed: see .ci/setup --browser")
)
struct AdminMarkupTests {
    @Test func showsMarkupAsText() async throws {
        let options = AdminSite.Options(token: try AdminToken(AdminStage.token), desk: MarkupDesk())
        let stage = try PushStage { $0.admin = options }
        try await Browser.use { browser in
            try await browser.open("http://127.0.0.1:\(stage.server.port)/_admin")
            try await browser.type(AdminStage.token + Browser.enter)
            try await browser.wait(until: "document.getElementById('pulse')?.dataset.state === 'live'")
            try await browser.wait(until: "document.querySelector('#devices td')")
            try await browser.press("#more-counters summary")
            for place in ["#identity", "#source", "#skipped", "#outcomes", "#dead", "#waiting", "#hooks", "#devices"] {
                #expect(try await browser.text(place).contains(MarkupDesk.markup), "\(place)")
            }
            #expect(try await browser.text("#push-off").contains("Push is off"))
            try await browser.press("#dead td button")
            try await browser.wait(until: "document.getElementById('status').textContent.includes('Push 1')")
            #expect(try await browser.text("#status").contains(MarkupDesk.markup))
            // Its link asks this page, and goes nowhere else.
            try await browser.press("#dead td a")
            try await browser.wait(until: "document.querySelector('#answer h3')")
            try await browser.type("\u{E009}a\u{E009}at://x" + Browser.enter, into: "#query")
            try await browser.wait(until: "document.querySelectorAll('#answer li').length === 3")
            #expect(try await browser.text("#answer").contains(MarkupDesk.markup))
            try await browser.open("http://127.0.0.1:\(stage.server.port)/_admin#refused")
            try await browser.wait(until: "document.querySelector('#answer .problem')")
            #expect(try await browser.text("#answer").contains(MarkupDesk.markup))

            let links = "[...document.querySelectorAll('main a')].every((e) => e.getAttribute('href').startsWith('#'))"
            #expect(try await browser.value(links) == "true")
            #expect(try await browser.value("window.ran") == "undefined")
            #expect(try await browser.value("document.images.length + document.scripts.length") == "1")
            let complaints = try await browser.console().filter { !$0.hasPrefix("network ") && !$0.contains("DEBUG") }
            #expect(complaints.isEmpty, "\(complaints)")
        }
        await stage.stop()
    }
}
