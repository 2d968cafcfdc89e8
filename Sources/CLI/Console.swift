import Glibc
import Runtime
import Synchronization

/// Standard output and standard error: lines for people, a progress bar that gives way to them.
final class Console: Sendable {
    static let shared = Console()

    /// Draws the bar anew, under whatever line was written meanwhile; nil while there is none.
    private let bar = Mutex<String?>(nil)
    private let outputFailure = Mutex<Int32?>(nil)

    /// One line on standard output, which must be free of what steers a terminal.
    func print(_ line: String = "") {
        let isWritten = FileDescriptorText.write(line + "\n", to: STDOUT_FILENO)
        let code = errno
        if !isWritten { outputFailure.withLock { $0 = $0 ?? code } }
    }

    /// Throws a `RunError` when something printed was lost. A reader that had seen enough is no loss.
    func checkOutput() throws(RunError) {
        guard let code = outputFailure.withLock({ $0 }), code != EPIPE else { return }
        throw RunError("cannot write to standard output: \(String(cString: strerror(code)))")
    }

    /// One line on standard error.
    func complain(_ line: String) { writeToError("hark: \(line)\n") }

    /// One line of the log, with its newline, on standard error.
    func log(_ line: String) { writeToError(line) }

    /// Shows `text` as the last line on the terminal; nil takes it away.
    func showBar(_ text: String?) {
        bar.withLock { bar in
            guard bar != text else { return }
            bar = text
            FileDescriptorText.write("\r\u{1B}[K" + (text ?? ""), to: STDERR_FILENO)
        }
    }

    private func writeToError(_ line: String) {
        bar.withLock { bar in
            let text = bar.map { "\r\u{1B}[K" + line + $0 } ?? line
            FileDescriptorText.write(text, to: STDERR_FILENO)
        }
    }

    var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }
}
