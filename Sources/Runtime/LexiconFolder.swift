import ATProto
import Glibc

/// The lexicon files that an operator keeps: every `.json` in a folder and the folders inside it.
public enum LexiconFolder {
    private static let maximumFileSize = 1 << 20
    private static let maximumDepth = 16

    /// Where lexicons lie when the configuration does not say: `Hooks/Lexicons` under the working directory, else beside
    /// the executable, where the build puts a copy; nil when there is neither.
    public static func standard() -> String? {
        let local = "Hooks/Lexicons"
        if FileContents.isFolder(local) { return local }
        guard let executable = executablePath() else { return nil }
        let bundled = executable.parentFolder + "/hark_Hooks.resources/Lexicons"
        return FileContents.isFolder(bundled) ? bundled : nil
    }

    /// - Throws: `FileError` or `LexiconFolderError`, each naming the file.
    public static func load(_ folder: String) throws -> Lexicons {
        var documents: [Lexicon] = []
        var files: [String: String] = [:]
        for path in try jsonFiles(in: folder, depth: 0) {
            let bytes = try FileContents.read(path, limit: maximumFileSize)
            let document: Lexicon
            do throws(DecodingFailure) {
                document = try Lexicon(json: bytes)
            } catch {
                throw LexiconFolderError(path: path, reason: error.description)
            }
            let id = document.id.description
            if let first = files.updateValue(path, forKey: id) {
                throw LexiconFolderError(path: path, reason: "\(id) is defined in \(first.printable) already")
            }
            documents.append(document)
        }
        return Lexicons(documents)
    }

    private static func jsonFiles(in folder: String, depth: Int) throws -> [String] {
        guard depth < maximumDepth else { throw LexiconFolderError(path: folder, reason: "folders nested too deeply") }
        var files: [String] = []
        for name in try FileContents.names(in: folder) where !name.hasPrefix(".") {
            let path = name.path(relativeTo: folder == "." ? "./" : folder)
            if FileContents.isFolder(path) {
                files += try jsonFiles(in: path, depth: depth + 1)
            } else if name.hasSuffix(".json") {
                files.append(path)
            }
        }
        return files
    }

    private static func executablePath() -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes {
            readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        return count > 0 ? String(validating: buffer[..<count], as: UTF8.self) : nil
    }
}

/// A lexicon file that cannot be used.
public struct LexiconFolderError: Error, Sendable, CustomStringConvertible {
    public var path: String
    public var reason: String

    public var description: String { "\(path.printable) is not a usable lexicon: \(reason.printable)" }
}
