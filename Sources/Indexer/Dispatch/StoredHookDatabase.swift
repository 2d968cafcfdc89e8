import ATProto
import HookKit
import Storage

/// The database as hooks see it.
public struct StoredHookDatabase: HookDatabase {
    let database: Database

    public init(database: Database) { self.database = database }

    public func query(_ sql: String, _ parameters: [any SQLValue]) async throws -> [Row] {
        let result = try database.read { try $0.query(sql, parameters.map(\.columnValue)) }
        return result.rows.map { Row(names: result.names, values: $0) }
    }

    public func run(_ sql: String, _ parameters: [any SQLValue]) async throws -> Int {
        let values = parameters.map(\.columnValue)
        return try await database.write { try $0.run(sql, values) }
    }

    public func lookup(_ collection: String, _ field: String, _ values: [String]) async throws -> [String: Value] {
        let found = try database.read { try $0.lookup(collection: collection, field: field, values: values) }
        return try found.mapValues { try JSON.decode($0) }
    }
}
