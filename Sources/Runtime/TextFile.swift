import Glibc

/// Writing a whole text file.
public enum TextFile {
    /// Replaces what was at `path`.
    public static func write(_ text: String, to path: String) throws(FileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw FileError(path: path, errno: errno, doing: "write") }
        let isWritten = FileDescriptorText.write(text, to: descriptor)
        let code = errno
        close(descriptor)
        if !isWritten { throw FileError(path: path, errno: code, doing: "write") }
    }
}
