import Foundation
import Simulators
import Synchronization
import TestSupport
import Testing

/// The operator's page of `hark serve`, in a browser.
@Suite(
    .fewAtATime, .enabled(if: Browser.isInstalled, "Chromium and its driver are not installed: see .ci/setup --browser")
)
struct AdminPageTests {
    private static let token = "a-token-for-the-operator"
    private static let label = "<img src=x onerror=\"window.ran=1\">"

    /// An evening with pushes that Apple refused at the first try, and a Hark that serves after it.
    private struct Evening {
        let stage: ReplayStage
        let port: Int
        let run: Task<HarkProcess.Result, any Error>

        init() async throws {
            var faults = Faults()
            faults.rules = [Faults.Rule(.answer(.payloadTooLarge), when: [.first(1), .percent(30)])]
            stage = try await ReplayStage(GrainEvening(seed: 21, events: 200), faults: faults)
            let replay = try await stage.replay()
            try #require(replay.status == 0, "\(replay.errors)")
            let hark = stage.hark
            let written = try String(contentsOf: hark.folder.appendingPathComponent("hark.json5"), encoding: .utf8)
            let own = """
                { did: "did:web:push.test", listen: "127.0.0.1:0", plc: "http://127.0.0.1:1", limits: { requestsPerSecond: 0 },
                admin: { token: "\(AdminPageTests.token)" },
                """
            try hark.write(own + written.dropFirst(), to: "hark.json5")
            let marked = ["tokens", "add", "--did", "did:web:marked.test", "--platform", "apns", "--label", label]
            let added = try await hark.run(marked, input: String(repeating: "ab", count: 32))
            try #require(added.status == 0, "\(added.errors)")
            run = Task { [stage] in try await stage.hark.run(["serve"], environment: stage.environment) }
            port = try await hark.listeningPort()
        }

        /// Opens the page in a browser, and ends both after `body`.
        func use(_ body: (Browser) async throws -> Void) async throws {
            do {
                try await Browser.use { browser in
                    try await AdminPageTests.signIn(browser, port)
                    try await body(browser)
                }
            } catch {
                stage.hark.kill(SIGTERM)
                throw error
            }
            stage.hark.kill(SIGTERM)
            #expect(try await run.value.status == 0)
        }
    }

    private static func signIn(_ browser: Browser, _ port: Int) async throws {
        try await browser.open("http://127.0.0.1:\(port)/_admin")
        // The field has the focus: keys are enough.
        try await browser.type("not-the-token-at-all" + Browser.enter)
        try await browser.wait(until: "document.getElementById('message')?.textContent.includes('not the admin token')")
        try await browser.type(token + Browser.enter)
        try await browser.wait(until: "document.getElementById('pulse')?.dataset.state === 'live'")
    }

    /// The figure over a word.
    private func tile(_ list: String, _ word: String) -> String {
        "[...document.querySelectorAll('#\(list) div')].find((e) => e.querySelector('dt').textContent === '\(word)')"
            + "?.querySelector('dd').textContent"
    }

    @Test func readsRetriesAndSearches() async throws {
        let evening = try await Evening()
        try await evening.use { try await readRetryAndSearch($0, evening.stage) }
    }

    private func readRetryAndSearch(_ browser: Browser, _ stage: ReplayStage) async throws {
        let deadBefore = try #require(Int(try await browser.value(tile("queue", "dead"))))
        let refused = Set(stage.simulator.received.filter { $0.reason == "PayloadTooLarge" }.map(\.apnsID))
        #expect(deadBefore == refused.count && deadBefore > 3)
        #expect(try await browser.value(tile("counters", "hook errors")) == "0")
        #expect(try await browser.text("#hooks").contains("OnCommitFavorite"))
        #expect(try await browser.text("#dead").contains("PayloadTooLarge"))
        try await browser.wait(until: "document.querySelectorAll('#devices tbody tr').length > 5")

        // One push again, by the keyboard: it is the first row's.
        let row = "document.querySelector('#dead tbody tr')"
        let uri = try await browser.value("\(row).querySelector('a[href*=\"at%3A\"]').textContent")
        let accepted = stage.simulator.received.filter(\.isAccepted).count
        try await browser.press("#dead tbody tr button")
        try await browser.wait(until: "document.getElementById('status').textContent === '1 push due again.'")
        _ = await stage.simulator.received(atLeast: accepted + 1, accepted: true)
        try await browser.wait(until: "\(tile("queue", "dead")) === '\(deadBefore - 1)'")
        try await browser.wait(until: "\(tile("counters", "sent")) === '1'")
        #expect(try await browser.value("document.activeElement.id") == "dead-title", "the focus is not lost")

        // Why did it notify, and whom?
        try await browser.type(uri + Browser.enter, into: "#query")
        try await browser.wait(until: "document.querySelector('#answer li')")
        let answer = try await browser.text("#answer")
        #expect(answer.contains(uri) && answer.contains("sent at ") && answer.contains("did:plc:"))

        // One less for good, with a question; the others go again at once.
        try await browser.press("#dead tbody tr button.danger")
        try await browser.accept()
        try await browser.wait(until: "\(tile("queue", "dead")) === '\(deadBefore - 2)'")
        try await browser.press("#retry-all")
        try await browser.wait(until: "document.querySelector('#dead .empty')")
        let listed = try await stage.hark.run(["queue", "list", "--state", "dropped", "--json"])
        #expect(listed.output.contains("PayloadTooLarge"))

        try await checkMarkup(browser)
        try await browser.click("header button")
        try await browser.wait(until: "document.getElementById('token')")
    }

    /// A label as a stranger may register it, and an address that is none.
    private func checkMarkup(_ browser: Browser) async throws {
        _ = try await browser.value("document.getElementById('query').value = ''")
        try await browser.type("did:web:marked.test" + Browser.enter, into: "#query")
        try await browser.wait(until: "document.getElementById('answer').textContent.includes('…abababab')")
        #expect(try await browser.text("#answer").contains(Self.label))
        _ = try await browser.value("document.getElementById('query').value = ''")
        try await browser.type("at://" + Self.label + Browser.enter, into: "#query")
        try await browser.wait(until: "document.querySelector('#answer .problem')")
        #expect(try await browser.text("#answer").contains(Self.label))
        #expect(try await browser.value("window.ran") == "undefined")
        #expect(try await browser.value("document.images.length") == "0")
        // Refusals of the sign-in and of the address are all that the console has to say.
        let complaints = try await browser.console().filter { !$0.hasPrefix("network ") && !$0.contains("DEBUG") }
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test func fitsEveryScreen() async throws {
        try await Evening().use { try await look($0) }
    }

    private func look(_ browser: Browser) async throws {
        for scheme in ["light", "dark"] {
            for width in [320, 390, 800, 1200] {
                try await browser.look(width: width, scheme: scheme)
                try await browser.wait(until: "innerWidth === \(width)")
                #expect(try await browser.value("document.documentElement.scrollWidth <= innerWidth") == "true")
                try await keep(try await browser.screenshot(), "admin-\(scheme)-\(width).png")
            }
        }
        let dark = try await browser.value("getComputedStyle(document.body).backgroundColor")
        try await browser.look(width: 1200, scheme: "light")
        #expect(try await browser.value("getComputedStyle(document.body).backgroundColor") != dark)
        // Every field has its label, every button and table its name, every heading its place.
        #expect(
            try await browser.value("[...document.querySelectorAll('input')].every((e) => e.labels.length)") == "true")
        #expect(
            try await browser.value(
                "[...document.querySelectorAll('button')].every((e) => e.ariaLabel || e.textContent.trim())") == "true")
        #expect(
            try await browser.value(
                "[...document.querySelectorAll('[aria-labelledby]')].every((e) => "
                    + "document.getElementById(e.getAttribute('aria-labelledby'))?.textContent)") == "true")
    }

    /// For people who want to look at it: into the folder that `HARK_SCREENSHOTS` names.
    private func keep(_ screenshot: Data, _ name: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["HARK_SCREENSHOTS"] else { return }
        try screenshot.write(to: URL(fileURLWithPath: folder).appendingPathComponent(name))
    }
}
