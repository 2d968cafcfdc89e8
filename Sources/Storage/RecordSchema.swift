import ATProto
import Synchronization

/// Which collections have tables, and with which columns. Thread-safe.
public final class RecordSchema: Sendable {
    /// No further table is made for a collection without a lexicon: how many there are is the network's choice.
    static let maximumTables = 20_000

    private let definitions: [String: [RecordDefinition.Property]]
    private let kept: CollectionFilter
    private let tables = Mutex<[String: RecordTable]>([:])

    /// `kept`: the collections of the configuration, lexicons' included.
    public convenience init(lexicons: Lexicons, kept: CollectionFilter) {
        self.init(definitions: lexicons.documents.compactMapValues { $0.record?.properties }, kept: kept)
    }

    init(definitions: [String: [RecordDefinition.Property]], kept: CollectionFilter) {
        self.definitions = definitions
        self.kept = kept
    }

    /// The table of a kept collection (made on first use when no lexicon names it); nil when it is not kept.
    public func table(for collection: String) -> RecordTable? {
        guard kept.contains(collection) else { return nil }
        return tables.withLock { tables in
            if let known = tables[collection] { return known }
            let definition = definitions[collection]
            guard definition != nil || tables.count < Self.maximumTables else { return nil }
            let table = RecordTable(collection: collection, slot: tables.count, properties: definition ?? [])
            tables[collection] = table
            return table
        }
    }

    /// The tables of all collections with a lexicon, by NSID.
    var described: [RecordTable] { definitions.keys.sorted().compactMap { table(for: $0) } }
}
