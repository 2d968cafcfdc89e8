import ATProto
import Synchronization

/// The table of one collection.
public final class RecordTable: Sendable {
    public let collection: String
    /// The place of the table's statements in the writer's list.
    let slot: Int
    let layout: RecordColumns
    private let knownName: Mutex<String>

    init(collection: String, slot: Int, properties: [RecordDefinition.Property]) {
        self.collection = collection
        self.slot = slot
        layout = RecordColumns(properties)
        knownName = Mutex(collection)
    }

    /// The table's name: the NSID, unless one that differs only in case was there first. Settled when the table is
    /// made or found.
    public internal(set) var name: String {
        get { knownName.withLock { $0 } }
        set { knownName.withLock { $0 = newValue } }
    }

    /// The values of the lexicon's columns for a record, in column order.
    public func columns(of record: Value) -> [ColumnValue] { layout.values(of: record) }
}
