import CSQLite

/// The records by which one person follows another.
public struct FollowRecords: Sendable, Hashable {
    /// An NSID.
    public var collection: String
    /// The property that holds the followed person's DID: letters and digits.
    public var subject: String

    public init(collection: String, subject: String = "subject") {
        self.collection = collection
        self.subject = subject
    }

    /// Those of grain, the app whose hooks Hark ships with.
    public static let grain = FollowRecords(collection: "social.grain.graph.follow")
}

extension Transaction {
    /// Whether `did` has a record that follows `actor`; nil when no such records are stored.
    func does(_ did: String, follow actor: some StringProtocol) throws -> Bool? {
        guard let table = try TableDefinition(connection).name(of: follows.collection) else { return nil }
        let subject = try followed(in: table)
        // Neither column alone is enough of a key: there are people whom a million follow, and who follow a million.
        // Named after what it holds, which changes when the collection gets a lexicon.
        let index = quoted("\(table)/\(subject)+did")
        try connection.execute("CREATE INDEX IF NOT EXISTS \(index) ON \(quoted(table)) (\(subject), did)")
        let sql = "SELECT 1 FROM \(quoted(table)) WHERE \(subject) = ? AND did = ? LIMIT 1"
        let statement = try connection.composed.statement(sql) { sql in try HookStatement(sql, on: connection) }
            .statement
        statement.bind(1, String(actor))
        statement.bind(2, did)
        return try statement.first { _ in true } ?? false
    }

    /// The followed person's DID as SQL: a column where the lexicon gives one, else taken from the record.
    private func followed(in table: String) throws -> String {
        if let column = try connection.columnName(follows.subject, of: table) { return quoted(column) }
        let path = follows.subject.replacing("\"", with: "").replacing("'", with: "''")
        return "json_extract(record, '$.\"\(path)\"')"
    }
}
