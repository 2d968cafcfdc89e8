import Foundation
import Synchronization

/// The built `hark`, run as a process of its own in a folder of its own. The folder goes with the last reference.
final class HarkProcess: Sendable {
    let folder: URL
    /// What runs at the moment.
    private let processIDs = Mutex<Set<pid_t>>([])

    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String
        var wasKilled: Bool
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("hark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    /// Runs `hark` with these words, and waits for its end without holding a thread.
    func run(_ words: [String], input: String = "", environment: [String: String] = [:]) async throws -> Result {
        try await run(Self.executable, words, input: input, environment: environment)
    }

    /// Runs a line of shell, in which `"$0"` is `hark`.
    func runShell(_ script: String) async throws -> Result {
        try await run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script, Self.executable.path], input: "", environment: [:])
    }

    private func run(
        _ executable: URL, _ words: [String], input: String, environment: [String: String]
    ) async throws -> Result {
        let id = UUID().uuidString
        let files = ["in", "out", "err"].map { folder.appendingPathComponent(".\(id).\($0)") }
        for file in files { try Data().write(to: file) }
        try Data(input.utf8).write(to: files[0])

        let process = Process()
        process.executableURL = executable
        process.arguments = words
        process.currentDirectoryURL = folder
        process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
                let id = process.processIdentifier
                processIDs.withLock { _ = $0.insert(id) }
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        let ended = process.processIdentifier
        processIDs.withLock { _ = $0.remove(ended) }
        return Result(
            status: process.terminationStatus, output: try String(contentsOf: files[1], encoding: .utf8),
            errors: try String(contentsOf: files[2], encoding: .utf8),
            wasKilled: process.terminationReason == .uncaughtSignal)
    }

    /// What has been written to standard error so far, by all that runs or ran here.
    func runningLog() throws -> String {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "err" }
            .map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }.joined()
    }

    /// Sends a signal to everything that runs here. False when nothing does.
    @discardableResult
    func kill(_ signal: Int32) -> Bool {
        let ids = processIDs.withLock { $0 }
        for id in ids { Foundation.kill(id, signal) }
        return !ids.isEmpty
    }

    /// Beside the test bundle, where the build puts both.
    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("hark")
}
