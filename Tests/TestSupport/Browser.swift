import Foundation

/// A headless Chromium, driven as WebDriver has it, with a profile of its own.
///
/// Source: w3.org/TR/webdriver2, and chromedriver's `goog/cdp/execute` for what that leaves out.
public final class Browser: Sendable {
    /// False where Debian's packages `chromium` and `chromium-driver`, or their like, are not installed.
    public static let isInstalled = driverPath != nil && program(["chromium", "google-chrome", "chrome"]) != nil

    private static let driverPath = program(["chromedriver"])

    private static func program(_ names: [String]) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.flatMap { folder in names.map { "\(folder)/\($0)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// What a wait or a step ended in.
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// What Enter is among the keys of `type`.
    public static let enter = "\u{E007}"

    private let driver: ChildProcess
    private let folder: ScratchFolder
    private let port: UInt16
    private let session: String
    /// For whatever a busy machine may take its time over.
    private static let patience: Duration = .seconds(60)

    /// Runs `body` with a browser that goes with it.
    public static func use(_ body: (Browser) async throws -> Void) async throws {
        let browser = try await Browser()
        do {
            try await body(browser)
        } catch {
            try? await browser.close()
            throw error
        }
        try await browser.close()
    }

    private init() async throws {
        guard let path = Self.driverPath else { throw Failure(description: "no chromedriver") }
        let folder = try ScratchFolder()
        let log = try folder.file("driver.log")
        driver = try ChildProcess(path, ["--port=0"], output: .file(log), errors: .null)
        self.folder = folder
        port = try await Self.port(in: log)
        // Without its sandbox, which a container's root cannot set up: it sees this machine's own pages alone.
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
            "--user-data-dir=\(folder.path)/profile",
        ]
        let capabilities: [String: Any] = [
            "browserName": "chrome", "goog:chromeOptions": ["args": arguments],
            "goog:loggingPrefs": ["browser": "ALL"],
        ]
        let made = try await Self.call(
            "POST", port, "/session", ["capabilities": ["alwaysMatch": capabilities]])
        guard let id = (made as? [String: Any])?["sessionId"] as? String else {
            throw Failure(description: "no session: \(made)")
        }
        session = "/session/" + id
    }

    deinit { driver.kill(SIGTERM) }

    private func close() async throws {
        _ = try await Self.call("DELETE", port, session)
        driver.kill(SIGTERM)
        _ = await driver.exit
    }

    // MARK: What a person does

    public func open(_ url: String) async throws { _ = try await post("url", ["url": url]) }

    public func click(_ selector: String) async throws { _ = try await post("element/\(element(selector))/click", [:]) }

    /// Goes to what `selector` names and hits Enter.
    public func press(_ selector: String) async throws {
        _ = try await post(
            "execute/sync", ["script": "document.querySelector(arguments[0]).focus()", "args": [selector]])
        try await type(Self.enter)
    }

    /// Types into what `selector` names, or where the focus is.
    public func type(_ text: String, into selector: String? = nil) async throws {
        let place =
            if let selector { try await element(selector) } else {
                try Self.reference(try await get("element/active"))
            }
        _ = try await post("element/\(place)/value", ["text": text])
    }

    /// Says yes to the question that the page asks.
    public func accept() async throws { _ = try await post("alert/accept", [:]) }

    /// As on a screen of that size, light or dark.
    public func look(width: Int, height: Int = 900, scheme: String = "light") async throws {
        try await cdp(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700])
        try await cdp(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": scheme]]])
    }

    // MARK: What a person sees

    /// The visible text of what `selector` names.
    public func text(_ selector: String) async throws -> String {
        try await get("element/\(element(selector))/text") as? String ?? ""
    }

    /// What a script's expression gives, as text.
    public func value(_ expression: String) async throws -> String {
        "\(try await post("execute/sync", ["script": "return String(\(expression))", "args": [String]()]))"
    }

    /// Waits until a script's expression is true.
    public func wait(until expression: String) async throws {
        let limit = ContinuousClock.now + Self.patience
        while try await value("Boolean(\(expression))") != "true" {
            guard ContinuousClock.now < limit else { throw Failure(description: "never true: \(expression)") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Messages of the console: scripts' errors, and what a policy has kept from running.
    public func console() async throws -> [String] {
        let entries = try await post("se/log", ["type": "browser"]) as? [[String: Any]] ?? []
        return entries.map { "\($0["source"] ?? "") \($0["level"] ?? "") \($0["message"] ?? "")" }
    }

    /// The whole page as PNG.
    public func screenshot() async throws -> Data {
        let answer = try await cdp("Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true])
        return Data(base64Encoded: answer["data"] as? String ?? "") ?? Data()
    }

    // MARK: The wire

    private func element(_ selector: String) async throws -> String {
        try Self.reference(try await post("element", ["using": "css selector", "value": selector]))
    }

    /// The one member of an element's object is its reference.
    private static func reference(_ element: Any) throws -> String {
        guard let reference = (element as? [String: Any])?.values.first as? String else {
            throw Failure(description: "no element: \(element)")
        }
        return reference
    }

    @discardableResult
    private func cdp(_ command: String, _ parameters: [String: Any]) async throws -> [String: Any] {
        try await post("goog/cdp/execute", ["cmd": command, "params": parameters]) as? [String: Any] ?? [:]
    }

    private func get(_ path: String) async throws -> Any { try await Self.call("GET", port, "\(session)/\(path)") }

    private func post(_ path: String, _ body: [String: Any]) async throws -> Any {
        try await Self.call("POST", port, "\(session)/\(path)", body)
    }

    private static func call(
        _ verb: String, _ port: UInt16, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> Any {
        let bytes = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        let answer = try await PlainHTTP.ask(verb, port: port, path: path, body: bytes)
        let object = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
        guard answer.status == 200 else {
            throw Failure(description: "\(verb) \(path): \(String(decoding: answer.body.prefix(500), as: UTF8.self))")
        }
        return object?["value"] ?? NSNull()
    }

    /// The port that the driver says it has taken.
    private static func port(in log: String) async throws -> UInt16 {
        let limit = ContinuousClock.now + patience
        while ContinuousClock.now < limit {
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: log)), as: UTF8.self)
            if let port = text.firstMatch(of: /successfully on port (\d+)/)?.1, let number = UInt16(port) {
                return number
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Failure(description: "chromedriver did not start")
    }
}
