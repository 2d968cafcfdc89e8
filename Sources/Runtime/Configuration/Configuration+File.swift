import ATProto
import Indexer
import Net
import Push
import XRPC

extension Configuration {
    private static let maximumFileSize = 1 << 20

    /// Reads the configuration.
    ///
    /// - Parameters:
    ///   - file: as named on the command line; nil reads `hark.json5` where the working directory has one.
    ///   - environment: the process's environment; `HARK_APNS_HOST` and `HARK_APNS_CA_FILE` aim pushes at a stand-in, for tests.
    /// - Throws: `FileError` or `ConfigurationError`.
    public static func load(file: String?, environment: [String: String]) throws -> Configuration {
        guard let file = file ?? (FileContents.exists(defaultFile) ? defaultFile : nil) else { return Configuration() }
        let bytes = try FileContents.read(file, limit: maximumFileSize)
        return try parse(bytes, file: file, environment: environment)
    }

    /// The same from the file's contents. `file` gives errors their name and relative paths their folder.
    static func parse(
        _ bytes: [UInt8], file: String, environment: [String: String]
    ) throws(ConfigurationError) -> Configuration {
        let root: JSON5
        do throws(JSON5Error) {
            root = try JSON5Parser.parse(bytes)
        } catch {
            throw refusal(of: file, line: error.line, column: error.column, error.message)
        }
        guard case .object(let members) = root.content else {
            throw refusal(of: file, line: root.line, "must hold one object, { … }, not \(root.kind)")
        }
        var section = ConfigurationSection(path: "", line: root.line, members: members)
        var configuration = Configuration()
        let surroundings = Surroundings(folder: file.parentFolder, environment: environment)
        let problems = configuration.read(&section, in: surroundings)
        guard problems.isEmpty else { throw ConfigurationError(file: file, problems: problems) }
        return configuration
    }

    /// What a configuration's values are understood against.
    struct Surroundings {
        /// The file's folder: relative paths start there.
        var folder: String
        var environment: [String: String]
    }

    private mutating func read(
        _ section: inout ConfigurationSection, in surroundings: Surroundings
    ) -> [ConfigurationProblem] {
        let folder = surroundings.folder
        database = (section.text("database") ?? database).path(relativeTo: folder)
        did = section.text("did") { DID.isValid($0) ? nil : "is not a DID, such as \"did:web:push.example.com\"" }
        let listenProblem = "must be an address and a port, such as \"127.0.0.1:3000\""
        listen = section.text("listen") { Endpoint($0) == nil ? listenProblem : nil } ?? listen
        plc = section.text("plc", check: Self.directoryProblem) ?? plc
        let lexiconFolder = section.text("lexicons") {
            FileContents.isFolder($0.path(relativeTo: folder)) ? nil : "names no folder: \($0.printable)"
        }
        lexicons = lexiconFolder?.path(relativeTo: folder)
        collections = section.texts("collections", check: Self.collectionProblem) ?? collections
        indexing.batchOps = section.integer("batch", in: 1...100_000) ?? indexing.batchOps

        var inner: [ConfigurationProblem] = []
        if var hooks = section.section("hooks") { inner += readHooks(&hooks) }
        if var limitsSection = section.section("limits") { inner += limits.read(&limitsSection) }
        if var authSection = section.section("auth") { inner += auth.read(&authSection) }
        if var adminSection = section.section("admin") {
            admin = AdminToken(&adminSection, folder: folder)
            inner += adminSection.finish()
        }
        if var pushSection = section.section("push") {
            push = PushConfiguration(&pushSection, in: surroundings, problems: &inner)
        }
        if var retention = section.section("retention") {
            let range = Duration.seconds(60)...(.seconds(3650 * 86_400))
            if let time = retention.duration("push", in: range) { push?.tuning.retention = time }
            inner += retention.finish()
        }
        return section.finish(with: inner)
    }

    private mutating func readHooks(_ section: inout ConfigurationSection) -> [ConfigurationProblem] {
        let timeout = section.duration("timeout", in: .milliseconds(10)...(.seconds(3600)))
        indexing.hookTimeout = timeout ?? indexing.hookTimeout
        indexing.hookConcurrency = section.integer("concurrency", in: 1...1024) ?? indexing.hookConcurrency
        indexing.pendingJobs = section.integer("pending", in: 1...1_000_000) ?? indexing.pendingJobs
        return section.finish()
    }

    /// A URL, without query or fragment, to which `/did:plc:…` can be added.
    private static func directoryProblem(_ url: String) -> String? {
        let rest = ["https://", "http://"].first { url.hasPrefix($0) }.map { url.utf8.dropFirst($0.utf8.count) }
        let isPlain = rest.map { !$0.isEmpty && $0.allSatisfy { 0x21...0x7E ~= $0 && !"?#@\\".utf8.contains($0) } }
        return isPlain == true ? nil : "must be a URL, such as \"https://plc.directory\""
    }

    /// An NSID, a family of them, or `*`.
    private static func collectionProblem(_ pattern: String) -> String? {
        if pattern == "*" { return nil }
        // A family may be as short as two segments: `social.grain.*`.
        let name = pattern.hasSuffix(".*") ? String(pattern.dropLast(2)) + ".any.name" : pattern
        if NSID.isValid(name) { return nil }
        return "\"\(pattern.printable)\" is no collection: give an NSID, a family such as \"app.bsky.*\", or \"*\""
    }

    private static func refusal(
        of file: String, line: Int, column: Int? = nil, _ message: String
    ) -> ConfigurationError {
        let problem = ConfigurationProblem(path: "", line: line, column: column, message: message)
        return ConfigurationError(file: file, problems: [problem])
    }
}
