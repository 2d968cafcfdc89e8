import Foundation

/// A virtual environment of Python with one package that nobody here wrote: made once beside the build's products,
/// where there is Python and a package index.
public final class PythonEnvironment: Sendable {
    private let made: Task<String?, Never>

    public init(package: String, version: String) {
        made = Task { await Self.make(package, version) }
    }

    /// The path of its Python; nil where it cannot be had. Waits until it is made, and holds no thread.
    public var python: String? {
        get async { await made.value }
    }

    private static func make(_ package: String, _ version: String) async -> String? {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folder = root.appendingPathComponent(".build/\(package)-venv").path
        let python = folder + "/bin/python"
        let check = ["-c", "import \(package)"]
        if await succeeds(python, check) { return python }
        guard await succeeds("/usr/bin/env", ["python3", "-m", "venv", "--clear", folder]) else { return nil }
        let install = [
            "-m", "pip", "install", "--quiet", "--timeout", "10", "--retries", "0", "\(package)==\(version)",
        ]
        guard await succeeds(python, install), await succeeds(python, check) else { return nil }
        return python
    }

    private static func succeeds(_ program: String, _ arguments: [String]) async -> Bool {
        guard let process = try? ChildProcess(program, arguments, errors: .null) else { return false }
        return await process.exit.status == 0
    }
}
