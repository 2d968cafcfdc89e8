import Glibc

/// A folder of this process's own, readable by its owner alone.
public struct TemporaryFolder: Sendable {
    public let path: String

    /// - Throws: `FileError`.
    public static func make(prefix: String) throws(FileError) -> TemporaryFolder {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/\(prefix)-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap(mkdtemp) }
        guard let made else { throw FileError(path: base, errno: errno, doing: "make a folder in") }
        return TemporaryFolder(path: String(cString: made))
    }

    /// Removes the folder and the files in it. It holds no folders.
    public func remove() {
        for name in (try? FileContents.names(in: path)) ?? [] { unlink(name.path(relativeTo: path)) }
        rmdir(path)
    }
}
