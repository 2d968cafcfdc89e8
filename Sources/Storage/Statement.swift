import ATProto
import CSQLite

/// A prepared statement. Confined to its connection's thread.
final class Statement {
    let handle: OpaquePointer

    /// Takes over a handle that `Connection` prepared.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    // MARK: Running

    /// Steps once; true when there is a row. An error resets the statement.
    func step() throws(StorageError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = failure
            reset()
            throw error
        }
    }

    /// Makes the statement ready for its next use, forgetting what was bound.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Steps to the end and resets.
    func run() throws(StorageError) {
        while try step() {}
        reset()
    }

    /// Runs to the end, handing each row to `body`, and resets.
    func forEachRow(_ body: (Statement) throws -> Void) throws {
        defer { reset() }
        while try step() { try body(self) }
    }

    /// The first row through `body`, nil when there is none; resets.
    func first<T>(_ body: (Statement) throws -> T) throws -> T? {
        defer { reset() }
        return try step() ? try body(self) : nil
    }

    var failure: StorageError { StorageError(sqlite3_db_handle(handle), sql: sql) }

    /// Rows that the last INSERT, UPDATE or DELETE of this connection changed.
    var changes: Int { Int(sqlite3_changes64(sqlite3_db_handle(handle))) }

    // MARK: Binding, by position from 1. Bytes are copied.

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
    }

    func bind(_ index: Int32, _ text: String?) {
        guard var text else {
            sqlite3_bind_null(handle, index)
            return
        }
        text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { bytes in
                _ = hark_sqlite_bind_text_copy(handle, index, bytes.baseAddress ?? noBytes, UInt64(bytes.count))
            }
        }
    }

    /// Binds a text without copying it: it must stay where it is until the statement is reset.
    @inline(__always)
    func bindInPlace(_ index: Int32, _ text: UnsafeBufferPointer<CChar>) {
        sqlite3_bind_text64(handle, index, text.baseAddress ?? noBytes, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
    }

    /// The same for a text that may be missing.
    @inline(__always)
    func bindInPlace(_ index: Int32, _ text: UnsafeBufferPointer<CChar>?) {
        if let text { bindInPlace(index, text) } else { sqlite3_bind_null(handle, index) }
    }

    /// The same for a blob.
    @inline(__always)
    func bindInPlace(_ index: Int32, blob: UnsafeBufferPointer<CChar>) {
        sqlite3_bind_blob64(handle, index, blob.baseAddress ?? noBytes, UInt64(blob.count), nil)
    }

    /// Binds a literal without copying it.
    func bind(_ index: Int32, literal: StaticString) {
        UnsafeRawPointer(literal.utf8Start).withMemoryRebound(to: CChar.self, capacity: literal.utf8CodeUnitCount) {
            bindInPlace(index, UnsafeBufferPointer(start: $0, count: literal.utf8CodeUnitCount))
        }
    }

    func bind(_ index: Int32, blob: [UInt8]) { blob.withUnsafeBytes { bind(index, blob: $0) } }

    func bind(_ index: Int32, blob: UnsafeRawBufferPointer) {
        _ = hark_sqlite_bind_blob_copy(
            handle, index, blob.baseAddress ?? UnsafeRawPointer(noBytes), UInt64(blob.count))
    }

    /// UTF-8 as text: JSON that is already bytes.
    func bind(_ index: Int32, utf8: [UInt8]) {
        utf8.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { bytes in
                _ = hark_sqlite_bind_text_copy(handle, index, bytes.baseAddress ?? noBytes, UInt64(bytes.count))
            }
        }
    }

    func bind(_ index: Int32, _ value: ColumnValue) {
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .real(let value): sqlite3_bind_double(handle, index, value)
        case .text(let value): bind(index, value)
        case .blob(let value): bind(index, blob: value)
        }
    }

    // MARK: Columns of the present row, by position from 0

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// The text by its length: a NUL is data.
    func text(_ column: Int32) -> String { String(decoding: utf8(column), as: UTF8.self) }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// Valid until the next step.
    func utf8(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        let start = sqlite3_column_text(handle, column)
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// Valid until the next step.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func value(_ column: Int32) -> ColumnValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob([UInt8](blob(column)))
        default: .null
        }
    }
}

/// A non-null address for empty texts and blobs; a null one would bind NULL.
nonisolated(unsafe) let noBytes = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))
