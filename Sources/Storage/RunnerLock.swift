import CSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The right to run a database: one process at a time may feed it. The kernel gives it back when the process ends,
/// however it ends.
struct RunnerLock: ~Copyable {
    private let descriptor: CInt

    /// How often it is tried again, a twentieth of a second apart: a killed process may take a moment to be gone.
    static let patience = 20

    /// - Parameters:
    ///   - database: the file's canonical path; the lock is a file beside it.
    ///   - pause: lets a moment pass before the next try.
    init(database: String, pause: () -> Void = { usleep(50_000) }) throws(StorageError) {
        let path = database + "-lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StorageError(code: SQLITE_CANTOPEN, message: "\(path): \(String(cString: strerror(errno)))")
        }
        var patience = Self.patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let reason = errno
            if reason == EINTR { continue }
            if reason == EWOULDBLOCK, patience > 0 {
                patience -= 1
                pause()
                continue
            }
            close(descriptor)
            guard reason == EWOULDBLOCK else {
                throw StorageError(code: SQLITE_IOERR, message: "\(path): \(String(cString: strerror(reason)))")
            }
            throw StorageError(code: SQLITE_BUSY, message: "another hark process uses this database: \(database)")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
