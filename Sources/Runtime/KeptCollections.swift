import ATProto
import HookKit
import Storage

/// What is kept of a source: the collections that have a lexicon, those that the configuration names (that of follows
/// too), and those that a hook asks for by name or family. A hook for everything sees whatever is kept.
public struct KeptCollections: Sendable {
    /// nil when no lexicon folder was found.
    public let folder: String?
    let lexicons: Lexicons
    let filter: CollectionFilter
    /// NSIDs of the lexicons that describe records, sorted.
    public let described: [String]
    /// Further NSIDs and families, sorted.
    public let named: [String]
    /// Each hook's name, and what it asks for; nothing when it takes everything.
    public let hooks: [(name: String, collections: [String])]

    /// - Throws: `FileError` or `LexiconFolderError`, each naming the file.
    public init(_ configuration: Configuration, hooks: [Hook]) throws {
        folder = configuration.lexicons ?? LexiconFolder.standard()
        lexicons = try folder.map(LexiconFolder.load) ?? Lexicons([])
        let described = Set(lexicons.documents.values.filter { $0.record != nil }.map(\.id.description))
        var named = Set(configuration.collections)
        self.hooks = hooks.map { ($0.name, $0.collections) }
        if let follows = configuration.push?.follows { named.insert(follows.collection) }
        for hook in hooks { named.formUnion(hook.collections) }
        self.described = described.sorted()
        self.named = named.subtracting(described).sorted()
        filter = CollectionFilter(described.union(named))
    }
}

extension Hook {
    var collections: [String] {
        switch trigger {
        case .onCommit(let collections): collections
        }
    }
}
