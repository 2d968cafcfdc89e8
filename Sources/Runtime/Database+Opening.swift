import ATProto
import Storage

extension Database {
    enum Role {
        /// Applies events and delivers pushes: one process at a time.
        case runner
        /// Reads, and changes tokens, beside a runner.
        case guest
    }

    /// Opens the database, creating it where it is not there.
    ///
    /// - Throws: `OperatorError` when the path cannot be a database, else `RunError`.
    static func open(_ path: String, as role: Role, crash: CrashPoints? = nil) throws -> Database {
        do throws(StorageError) {
            return try Database(path: path, claimingRunner: role == .runner, crash: crash)
        } catch {
            let message = "cannot open the database \(path): \(error.message)"
            // Another process holds it: nothing is written wrongly.
            if error.code & 0xFF == busy { throw RunError(message) }
            throw OperatorError(message)
        }
    }

    /// Opens it as its runner; nil when another process is that.
    ///
    /// - Throws: as `open`.
    static func openUnlessRun(_ path: String) throws -> Database? {
        do throws(StorageError) {
            return try Database(path: path, claimingRunner: true)
        } catch {
            if error.code & 0xFF == busy { return nil }
            throw OperatorError("cannot open the database \(path): \(error.message)")
        }
    }

    /// SQLITE_BUSY.
    private static let busy: Int32 = 5
}

extension Connection {
    /// How many records a collection's table holds.
    func recordCount(of collection: String) throws -> Int {
        let quoted = collection.replacing("\"", with: "\"\"")
        let (_, rows) = try query("SELECT count(*) FROM \"\(quoted)\"", [])
        guard case .integer(let count)? = rows.first?.first else { return 0 }
        return Int(count)
    }
}
