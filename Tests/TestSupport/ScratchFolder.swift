import Foundation

/// A folder of its own for one test; removed with it.
public final class ScratchFolder: Sendable {
    public let path: String

    public init() throws {
        path = NSTemporaryDirectory() + "hark-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    public func file(_ name: String, _ bytes: some Sequence<UInt8> = []) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}
