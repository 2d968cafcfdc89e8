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
    static func open(_ path: String, as role: Role) throws -> Database {
        do throws(StorageError) {
            return try Database(path: path)
        } catch {
            throw OperatorError("cannot open the database \(path): \(error.message)")
        }
    }
}
