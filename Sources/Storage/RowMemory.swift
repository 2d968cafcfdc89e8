import CSQLite

/// Binds a statement's parameters to where a row's values lie, without copying them.
///
/// Handed out by `Statement.step(over:)`, during which alone it may be used.
struct RowMemory {
    fileprivate let statement: OpaquePointer
    fileprivate let start: UnsafePointer<UInt8>

    /// A text of the row, by its place.
    @inline(__always)
    func bind(_ index: Int32, _ range: Range<Int>) {
        bind(index, UnsafeBufferPointer(start: start + range.lowerBound, count: range.count))
    }

    /// A text that lies elsewhere and stays there until the statement has been stepped.
    @inline(__always)
    func bind(_ index: Int32, _ text: UnsafeBufferPointer<UInt8>) {
        // An empty text has an address all the same, for without one it would be NULL.
        let bytes = UnsafeRawPointer(text.baseAddress ?? start).assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text64(statement, index, bytes, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
    }

    @inline(__always)
    func bind(_ index: Int32, _ cell: RowImage.Cell) {
        switch cell {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): sqlite3_bind_int64(statement, index, value)
        case .real(let value): sqlite3_bind_double(statement, index, value)
        case .text(let range): bind(index, range)
        case .blob(let range):
            sqlite3_bind_blob64(statement, index, start + range.lowerBound, UInt64(range.count), nil)
        }
    }
}

extension Statement {
    /// Lets `bind` bind the parts of a row, and steps once; true when there is a row of a result.
    ///
    /// The caller resets the statement before the row goes away.
    @inline(__always)
    func step(over row: RowImage, _ bind: (RowImage, RowMemory) -> Void) throws(StorageError) -> Bool {
        let code = row.bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return SQLITE_MISUSE }
            bind(row, RowMemory(statement: handle, start: start))
            return sqlite3_step(handle)
        }
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure
        }
    }
}
