import CSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What SQLite's callbacks know of a connection: whose statement is being prepared or run, and until when.
struct StatementGuard {
    enum Author: UInt8 {
        /// Hark's own SQL: everything is allowed.
        case hark
        /// A hook's reading statement.
        case reader
        /// A hook's writing statement.
        case writer
    }

    var author = Author.hark
    /// On the monotonic clock, in nanoseconds.
    var deadline = UInt64.max
    /// Frames in the write-ahead log after the last commit of this connection.
    var logFrames: Int32 = 0

    static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Installs the callbacks. `state` must outlive the connection.
    static func install(_ state: UnsafeMutablePointer<StatementGuard>, on connection: OpaquePointer) {
        sqlite3_set_authorizer(connection, authorize, state)
        sqlite3_progress_handler(connection, 20_000, hasLapsed, state)
        sqlite3_wal_hook(connection, noteCommit, state)
    }

    /// Hark's own tables begin with an underscore.
    private static func isOurs(_ name: UnsafePointer<CChar>?) -> Bool { name?.pointee == CChar(UInt8(ascii: "_")) }

    /// Collections' tables have NSIDs for names, which hold dots; hooks' own tables do not.
    private static func isRecordTable(_ name: UnsafePointer<CChar>?) -> Bool {
        guard let name else { return false }
        return strchr(name, CInt(UInt8(ascii: "."))) != nil
    }

    fileprivate func allows(
        _ action: CInt, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?
    ) -> Bool {
        switch (author, action) {
        case (.hark, _): true
        case (_, SQLITE_SELECT), (_, SQLITE_READ), (_, SQLITE_FUNCTION), (_, SQLITE_RECURSIVE): true
        case (.writer, SQLITE_INSERT), (.writer, SQLITE_UPDATE), (.writer, SQLITE_DELETE): !Self.isOurs(first)
        case (.writer, SQLITE_CREATE_TABLE), (.writer, SQLITE_DROP_TABLE), (.writer, SQLITE_CREATE_VIEW),
            (.writer, SQLITE_DROP_VIEW):
            !Self.isOurs(first) && !Self.isRecordTable(first)
        case (.writer, SQLITE_CREATE_INDEX), (.writer, SQLITE_DROP_INDEX), (.writer, SQLITE_ALTER_TABLE):
            !Self.isOurs(second) && !Self.isRecordTable(second)
        case (.writer, SQLITE_REINDEX): true
        default: false
        }
    }
}

private func authorize(
    context: UnsafeMutableRawPointer?, action: CInt, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?,
    database: UnsafePointer<CChar>?, trigger: UnsafePointer<CChar>?
) -> CInt {
    guard let state = context?.assumingMemoryBound(to: StatementGuard.self) else { return SQLITE_DENY }
    return state.pointee.allows(action, first, second) ? SQLITE_OK : SQLITE_DENY
}

private func hasLapsed(context: UnsafeMutableRawPointer?) -> CInt {
    guard let state = context?.assumingMemoryBound(to: StatementGuard.self) else { return 0 }
    let deadline = state.pointee.deadline
    return deadline != .max && StatementGuard.nanoseconds() > deadline ? 1 : 0
}

private func noteCommit(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, name: UnsafePointer<CChar>?, frames: CInt
) -> CInt {
    context?.assumingMemoryBound(to: StatementGuard.self).pointee.logFrames = frames
    return SQLITE_OK
}
