import Foundation
import Net
import TestSupport

/// A gateway that nobody here wrote, as a child process: on the Python package h2, or on Node's http2.
///
/// Its scripts are in `Servers/`. It ends with its last reference.
final class ForeignServer: Sendable {
    enum Kind: String, Sendable {
        case python, node
    }

    /// What the server says of one `apns-id`, in order.
    struct Fate {
        var answered = 0
        var told: [Int] = []
        var unanswered = 0
        var refused = 0
        /// It was processed again after a whole answer of 200.
        var isRepeated = false
    }

    let port: UInt16
    let caPEM: String
    private let folder: ScratchFolder
    private let process: ChildProcess
    private var log: String { folder.path + "/log" }

    /// - Throws: `Failure` when it does not begin to listen.
    init(_ kind: Kind, _ fault: String) async throws {
        let folder = try ScratchFolder()
        self.folder = folder
        let certificate = try SelfSignedCertificate()
        let other = try SelfSignedCertificate(validDays: -30 ... -1)
        caPEM = certificate.caPEM
        let files = try [
            ("good.pem", certificate.certificatePEM), ("good.key", certificate.keyPEM),
            ("other.pem", other.certificatePEM), ("other.key", other.keyPEM),
        ].map { try folder.file($0, $1.utf8) }
        let log = try folder.file("log")
        let errors = ChildProcess.Stream.file(try folder.file("log.errors"))
        switch kind {
        case .python:
            guard let python = await Self.h2.python else { throw Failure("no Python with h2") }
            process = try ChildProcess(
                python, [Self.scripts + "/h2_gateway.py", fault] + files, output: .file(log), errors: errors)
        case .node:
            process = try ChildProcess(
                "/usr/bin/env", ["node", Self.scripts + "/http2_gateway.js", fault] + files.prefix(2),
                output: .file(log), errors: errors)
        }
        port = try await Self.port(in: log)
    }

    deinit { process.kill(SIGKILL) }

    struct Failure: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }

    /// Looks until the first line is there: a child gives no other sign.
    private static func port(in log: String) async throws -> UInt16 {
        for _ in 0..<2000 {
            let text = try String(contentsOfFile: log, encoding: .utf8)
            if let end = text.firstIndex(of: "\n"), let port = UInt16(text[..<end]) { return port }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure("the server does not listen: \(try String(contentsOfFile: log + ".errors", encoding: .utf8))")
    }

    // MARK: What it has seen

    private func lines() throws -> [[Substring]] {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").dropFirst().map {
            $0.split(separator: " ")
        }
    }

    /// By `apns-id`.
    func fates() throws -> [String: Fate] {
        var fates: [String: Fate] = [:]
        for words in try lines() where words[0] != "token" {
            var fate = fates[String(words[1])] ?? Fate()
            // A refused one may be read late, when the client has long gone elsewhere with it.
            if fate.answered > 0, words[0] != "refused" { fate.isRepeated = true }
            switch words[0] {
            case "answered": fate.answered += 1
            case "told": fate.told.append(Int(words[2]) ?? 0)
            case "unanswered": fate.unanswered += 1
            case "refused": fate.refused += 1
            default: throw Failure("the server says \(words)")
            }
            fates[String(words[1])] = fate
        }
        return fates
    }

    /// How many different provider tokens have come.
    func tokenCount() throws -> Int { try lines().filter { $0[0] == "token" }.count }

    // MARK: Where it comes from

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let scripts = root.appendingPathComponent("Servers").path

    static let h2 = PythonEnvironment(package: "h2", version: "4.4.1")

    static var hasNode: Bool {
        get async {
            let node = try? ChildProcess("/usr/bin/env", ["node", "-e", "require('node:http2')"], errors: .null)
            return await node?.exit.status == 0
        }
    }
}
