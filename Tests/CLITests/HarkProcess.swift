import Foundation
import Synchronization
import TestSupport

/// The built `hark`, run as a process of its own in a folder of its own. The folder goes with the last reference.
final class HarkProcess: Sendable {
    let folder: URL
    /// What runs at the moment.
    private let running = Mutex<[pid_t: ChildProcess]>([:])

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

        let process = try ChildProcess(
            executable.path, words, in: folder.path,
            environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 },
            input: .file(files[0].path), output: .file(files[1].path), errors: .file(files[2].path))
        running.withLock { $0[process.id] = process }
        let exit = await process.exit
        running.withLock { _ = $0.removeValue(forKey: process.id) }
        return Result(
            status: exit.status, output: try String(contentsOf: files[1], encoding: .utf8),
            errors: try String(contentsOf: files[2], encoding: .utf8), wasKilled: exit.wasKilled)
    }

    /// What has been written to standard error so far, by all that runs or ran here.
    func runningLog() throws -> String { try text(ofFiles: "err") }

    /// The same of standard output.
    func runningOutput() throws -> String { try text(ofFiles: "out") }

    private func text(ofFiles kind: String) throws -> String {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == kind }
            .map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }.joined()
    }

    /// The port at which a `hark serve` that was started here says it listens.
    func listeningPort() async throws -> Int {
        let limit = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < limit {
            if let text = try runningLog().firstMatch(of: /"op":"listening".*"port":"(\d+)"/)?.1, let port = Int(text) {
                return port
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CancellationError()
    }

    /// Sends a signal to everything that runs here. False when nothing does.
    @discardableResult
    func kill(_ signal: Int32) -> Bool {
        let processes = running.withLock { Array($0.values) }
        for process in processes { process.kill(signal) }
        return !processes.isEmpty
    }

    /// Beside the test bundle, where the build puts both.
    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("hark")
}
