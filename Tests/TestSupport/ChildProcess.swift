import Dispatch
import Foundation
import Synchronization

/// A program run as a child of the tests.
///
/// In place of Foundation's `Process`, whose bookkeeping by `select` breaks memory where the tests hold thousands of
/// descriptors.
public final class ChildProcess: Sendable {
    /// Where a child reads from or writes to.
    public enum Stream: Sendable {
        case null
        case file(String)
        /// Stays the caller's to close.
        case descriptor(Int32)
    }

    /// How a child ended.
    public struct Exit: Sendable {
        /// Its exit code, or the number of the signal that killed it.
        public var status: Int32
        public var wasKilled: Bool
    }

    public let id: pid_t
    private let ended = Mutex<Exit?>(nil)
    private let group = DispatchGroup()

    /// Starts a program, named by its path. Without an `environment` it inherits the tests' own.
    public init(
        _ program: String, _ arguments: [String], in folder: String? = nil, environment: [String: String]? = nil,
        input: Stream = .null, output: Stream = .null, errors: Stream = .descriptor(STDERR_FILENO)
    ) throws {
        let words = (folder.map { ["/usr/bin/env", "-C", $0] } ?? []) + [program] + arguments
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
        id = try Self.spawn(words, variables, [(input, O_RDONLY), (output, O_WRONLY), (errors, O_WRONLY)])
        group.enter()
        Thread.detachNewThread { self.reap() }
    }

    /// Sends a signal, unless the child has ended.
    public func kill(_ signal: Int32) {
        ended.withLock { if $0 == nil { Foundation.kill(id, signal) } }
    }

    /// Waits for the end, and holds no thread.
    public var exit: Exit {
        get async {
            await withCheckedContinuation { continuation in
                group.notify(queue: .global()) { continuation.resume() }
            }
            return waitForExit()
        }
    }

    /// Waits for the end on the thread that calls.
    public func waitForExit() -> Exit {
        group.wait()
        return ended.withLock { $0 } ?? Exit(status: -1, wasKilled: false)
    }

    /// Runs a program to its end. Returns what it wrote to standard output.
    public static func run(_ program: String, _ arguments: [String]) async throws -> (exit: Exit, output: String) {
        let folder = try ScratchFolder()
        let file = try folder.file("output")
        let exit = try await ChildProcess(program, arguments, output: .file(file)).exit
        return (exit, try String(contentsOfFile: file, encoding: .utf8))
    }

    /// Waits without reaping first, so that no signal reaches a process that was given the same number later.
    private func reap() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(id), &info, Int32(WEXITED | WNOWAIT)) == -1 && errno == EINTR {}
        ended.withLock { ended in
            var status: Int32 = 0
            while waitpid(id, &status, 0) == -1 && errno == EINTR {}
            let signal = status & 0x7f
            ended = Exit(status: signal == 0 ? status >> 8 & 0xff : signal, wasKilled: signal != 0)
        }
        group.leave()
    }

    private static func spawn(
        _ words: [String], _ variables: [String], _ streams: [(stream: Stream, mode: Int32)]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, (stream, mode)) in zip(Int32(0)..., streams) {
            switch stream {
            case .null: posix_spawn_file_actions_addopen(&actions, target, "/dev/null", mode, 0)
            case .file(let path): posix_spawn_file_actions_addopen(&actions, target, path, mode, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, target)
            }
        }
        // Dispatch's threads block all signals, which a child would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var id = pid_t()
        let code = withCStrings(words) { arguments in
            withCStrings(variables) { posix_spawn(&id, words[0], &actions, &attributes, arguments, $0) }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return id
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
