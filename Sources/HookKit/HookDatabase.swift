import ATProto

/// The database as a hook sees it: at least as new as the hook's op.
public protocol HookDatabase: Sendable {
    /// Runs one reading statement. `$1`, `$2`, … stand for the parameters in order.
    func query(_ sql: String, _ parameters: [any SQLValue]) async throws -> [Row]

    /// Runs one writing statement, returning how many rows it changed. It is committed when this returns.
    @discardableResult
    func run(_ sql: String, _ parameters: [any SQLValue]) async throws -> Int

    func lookup(_ collection: String, _ field: String, _ values: [String]) async throws -> [String: Value]
}

extension HookDatabase {
    public func query(_ sql: String) async throws -> [Row] { try await query(sql, []) }

    @discardableResult
    public func run(_ sql: String) async throws -> Int { try await run(sql, []) }
}

/// One row of a result, by column name.
public struct Row: Sendable {
    public let names: [String]
    public let values: [ColumnValue]

    public init(names: [String], values: [ColumnValue]) {
        self.names = names
        self.values = values
    }

    /// nil where there is no such column.
    public subscript(name: String) -> ColumnValue? {
        names.firstIndex(of: name).map { values[$0] }
    }
}

/// A value as a hook passes it to SQL: String, integers, Double, Bool, bytes, or an Optional of these.
public protocol SQLValue: Sendable {
    var columnValue: ColumnValue { get }
}

extension String: SQLValue { public var columnValue: ColumnValue { .text(self) } }
extension Int: SQLValue { public var columnValue: ColumnValue { .integer(Int64(self)) } }
extension Int64: SQLValue { public var columnValue: ColumnValue { .integer(self) } }
extension Double: SQLValue { public var columnValue: ColumnValue { .real(self) } }
extension Bool: SQLValue { public var columnValue: ColumnValue { .integer(self ? 1 : 0) } }
extension [UInt8]: SQLValue { public var columnValue: ColumnValue { .blob(self) } }
extension Optional: SQLValue where Wrapped: SQLValue {
    public var columnValue: ColumnValue { self?.columnValue ?? .null }
}
