import CSQLite

/// A field of a collection, for which a lookup's SQL is kept.
struct LookupKey: Hashable {
    let collection: String
    let field: String
}

extension Connection {
    private static let keptLookups = 256

    /// The records of `collection` whose `field` (did, uri or a property) is one of `values`, by that value, newest
    /// where several match; values are the record's JSON.
    ///
    /// A property may be named as in the lexicon or as its column is; a strongRef is looked up by its uri. A collection
    /// of which nothing is stored has no records; a field that it does not have is an error.
    public func lookup(collection: String, field: String, values: [String]) throws -> [String: [UInt8]] {
        guard let sql = try lookupSQL(collection, field) else { return [:] }
        let statement = try composed.statement(sql) { sql in try HookStatement(sql, on: self) }.statement
        var found: [String: [UInt8]] = [:]
        for value in values where found[value] == nil {
            statement.bind(1, field == "did" ? "at://\(value)/" : value)
            if field == "did" { statement.bind(2, "at://\(value)0") }
            found[value] = try statement.first { [UInt8]($0.utf8(0)) }
        }
        return found
    }

    /// nil when the collection has no table.
    private func lookupSQL(_ collection: String, _ field: String) throws -> String? {
        let key = LookupKey(collection: collection, field: field)
        if let known = lookups[key] { return known }
        guard let table = try TableDefinition(self).name(of: collection) else { return nil }
        // "0" follows "/": the uris of a did lie between the two, and need no index of their own.
        let condition =
            field == "did" ? "uri > ? AND uri < ?" : "\(quoted(try column(field, of: table, collection))) = ?"
        let sql = "SELECT record FROM \(quoted(table)) WHERE \(condition) ORDER BY rev DESC LIMIT 1"
        if lookups.count >= Self.keptLookups { lookups = [:] }
        lookups[key] = sql
        return sql
    }

    private func column(_ field: String, of table: String, _ collection: String) throws -> String {
        if let name = try columnName(field, of: table) { return name }
        throw StorageError.misuse("\(collection) has no field \(field)")
    }

    /// The column that holds a property (of a strongRef, its uri), or that is itself named so; nil when there is none.
    func columnName(_ field: String, of table: String) throws -> String? {
        let statement = try statement("SELECT name FROM pragma_table_info(?) WHERE name = ? COLLATE NOCASE")
        let snake = RecordColumns.snakeCase(field)
        for candidate in [field, snake, snake + "_uri"] {
            statement.bind(1, table)
            statement.bind(2, candidate)
            if let name = try statement.first({ $0.text(0) }) { return name }
        }
        return nil
    }
}
