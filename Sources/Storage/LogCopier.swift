import CSQLite
import Dispatch
import Synchronization

/// Copies the write-ahead log into the database file on a thread and a connection of its own.
final class LogCopier: Sendable {
    enum Outcome {
        case running
        /// How many of the log's frames are copied; nil when nothing was tried since the last question.
        case ended(copied: Int32?)
    }

    private let requests = Inbox<Void>()
    private let running = DispatchGroup()
    private let latest = Mutex<Outcome>(.ended(copied: nil))
    private let thread = Mutex<OwnThread?>(nil)

    init(path: String, crash: CrashPoints?) throws(StorageError) {
        let connection = Handover(connection: try Connection(path: path, role: .copier))
        let started = try OwnThread { [self] in
            while requests.take() != nil {
                let copied = Self.copy(connection.connection, crash: crash)
                latest.withLock { $0 = .ended(copied: copied) }
                running.leave()
            }
            connection.connection.close()
        }
        thread.withLock { $0 = started }
    }

    /// A connection on its way to the thread that alone uses it from then on.
    private struct Handover: @unchecked Sendable { let connection: Connection }

    /// Begins a copy, unless one is running.
    func start() {
        let isFree = latest.withLock { latest in
            if case .running = latest { return false }
            latest = .running
            return true
        }
        guard isFree else { return }
        running.enter()
        if !requests.put(()) { running.leave() }
    }

    /// Waits for the end of a running copy.
    func wait() { running.wait() }

    /// What came of the last copy; each is told once.
    func takeOutcome() -> Outcome {
        latest.withLock { latest in
            let outcome = latest
            if case .ended = outcome { latest = .ended(copied: nil) }
            return outcome
        }
    }

    /// Ends the thread after a running copy.
    func close() {
        requests.close()
        thread.withLock { $0 }?.join()
    }

    /// Copies what no reader needs; waits for nobody. Returns how many frames of the log are copied then.
    static func copy(_ connection: Connection, crash: CrashPoints?) -> Int32 {
        crash?.reach(.beforeCheckpoint)
        defer { crash?.reach(.afterCheckpoint) }
        var copied: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, &copied)
        return code == SQLITE_OK ? max(copied, 0) : 0
    }
}
