import Foundation

/// Test data made by others, kept outside the repository.
enum SharedCorpus {
    /// `HARK_SHARED`, or the folder `shared` beside the package.
    static let root: URL =
        if let path = ProcessInfo.processInfo.environment["HARK_SHARED"] {
            URL(fileURLWithPath: path)
        } else {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared")
        }

    static let isPresent = FileManager.default.fileExists(atPath: root.appendingPathComponent("corpus").path)

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appendingPathComponent("corpus").appendingPathComponent(path)))
    }

    /// The lines of a text file that are neither empty nor comments.
    static func cases(_ path: String) throws -> [String] {
        String(decoding: try bytes(path), as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map(String.init)
    }

    /// A JSON array of objects.
    static func objects(_ path: String) throws -> [[String: Any]] {
        try JSONSerialization.jsonObject(with: Data(try bytes(path))) as? [[String: Any]] ?? []
    }
}
