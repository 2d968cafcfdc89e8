import CSQLite

/// An error of SQLite's, with the statement it came from; never with bound values.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    public var code: Int32
    public var message: String
    public var sql: String?

    public init(code: Int32, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    public var description: String { "database: \(message)" }

    /// What `connection` last complained about.
    init(_ connection: OpaquePointer?, sql: String? = nil) {
        let code = sqlite3_extended_errcode(connection)
        self.init(code: code, message: Self.message(of: connection, code: code), sql: sql)
    }

    /// A use that Hark refuses before SQLite sees it.
    static func misuse(_ message: String, sql: String? = nil) -> StorageError {
        StorageError(code: SQLITE_MISUSE, message: message, sql: sql)
    }

    private static func message(of connection: OpaquePointer?, code: Int32) -> String {
        switch code & 0xff {
        case SQLITE_FULL: "the disk is full"
        case SQLITE_BUSY: "another process keeps the database locked"
        case SQLITE_NOTADB: "the file is not an SQLite database"
        default: String(cString: sqlite3_errmsg(connection))
        }
    }
}
