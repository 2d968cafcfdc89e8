import Glibc

/// Reading a whole, small file.
enum FileContents {
    /// The bytes of the file at `path`; refuses folders, and files of more than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, errno: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FileError(path: path, errno: errno) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw FileError(path: path, reason: "larger than \(limit) bytes") }
        }
    }

    static func isFolder(_ path: String) -> Bool { kind(path) == S_IFDIR }

    /// True for whatever can be read only once.
    static func isPipe(_ path: String) -> Bool { [S_IFIFO, S_IFSOCK, S_IFCHR].contains(kind(path)) }

    /// `S_IFREG`, `S_IFDIR`, …; nil when there is no such file.
    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The names in a folder, sorted.
    static func names(in folder: String) throws(FileError) -> [String] {
        guard let stream = opendir(folder) else { throw FileError(path: folder, errno: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// What could not be done with a file: `cannot read X: No such file or directory`.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    public var path: String
    public var reason: String
    private let deed: String

    init(path: String, reason: String, doing deed: String = "read") {
        self.path = path
        self.reason = reason
        self.deed = deed
    }

    init(path: String, errno code: Int32, doing deed: String = "read") {
        self.init(path: path, reason: String(cString: strerror(code)), doing: deed)
    }

    public var description: String { "cannot \(deed) \(path.printable): \(reason)" }
}

extension String {
    /// This path, taken from `folder` unless it is absolute.
    func path(relativeTo folder: String) -> String {
        if hasPrefix("/") || folder.isEmpty || folder == "." { return self }
        return folder.hasSuffix("/") ? folder + self : folder + "/" + self
    }

    /// The folder that a path's last component lies in; `.` when it names none.
    var parentFolder: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
