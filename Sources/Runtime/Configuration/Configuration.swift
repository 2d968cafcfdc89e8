import Indexer
import XRPC

/// What an operator has set: `hark.json5`, checked whole, with the defaults for what it leaves out.
///
/// All paths are ready to be opened from the working directory.
public struct Configuration: Sendable {
    /// The SQLite database. Key `database`.
    public var database = "hark.db"
    /// This server's own DID, the audience of the tokens that phones sign. Key `did`.
    public var did: String?
    /// Where the XRPC server listens. Key `listen`.
    public var listen = "127.0.0.1:3000"
    /// The directory that did:plc is looked up in, a URL. Key `plc`.
    public var plc = "https://plc.directory"
    /// The folder of the lexicons; nil when there is none. Key `lexicons`.
    public var lexicons: String?
    /// Collections to keep besides those that have a lexicon: NSIDs, families (`app.bsky.*`) or `*`. Key `collections`.
    public var collections: [String] = []
    /// Batch size, hook limits. Keys `batch`, `hooks.timeout`, `hooks.concurrency`, `hooks.pending`.
    public var indexing = Indexer.Options()
    /// What clients may ask of the server. Key `limits`.
    public var limits = HTTPLimits()
    /// Whose calls are let in. Key `auth`.
    public var auth = AuthConfiguration()
    /// What opens the operator's page; nil: there is none. Key `admin`.
    public var admin: AdminToken?
    /// nil: push is off. Key `push`.
    public var push: PushConfiguration?

    public init() {}

    /// The file that is read when no other is named and it lies in the working directory.
    public static let defaultFile = "hark.json5"
}

/// A configuration that was refused: every problem, in the order of the file. Never empty.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// As it was named.
    public var file: String
    public var problems: [ConfigurationProblem]

    /// A line for each problem.
    public var lines: [String] { problems.map { "\(file.printable):\($0.place): \($0)" } }

    /// One line: the first problem, and how many more there are.
    public var description: String {
        guard let first = lines.first else { return "\(file.printable): refused" }
        let more = lines.count - 1
        return more == 0 ? first : "\(first) (and \(more) more \(more == 1 ? "problem" : "problems"))"
    }
}
