import CSQLite
import Dispatch
import Synchronization

/// Hark's database: one file, one writer, several readers. All SQL lives in this target.
public final class Database: Sendable {
    /// Readers at a time; a further one waits.
    private static let readerLimit = 4

    /// The file's absolute path, symbolic links resolved.
    public let path: String
    /// Set by tests alone.
    package let crash: CrashPoints?
    private let writer: Writer
    private let lock: Mutex<RunnerLock?>
    private let readers = Mutex<Readers>(Readers())
    private let readerSlots = DispatchSemaphore(value: readerLimit)

    /// Connections that nobody uses at the moment.
    private struct Readers: @unchecked Sendable {  // A connection is in here or with one caller.
        var idle: [Connection] = []
        var isClosed = false
    }

    private struct Handover: @unchecked Sendable { let connection: Connection? }

    /// Opens or creates the file and its system tables.
    /// - Parameter claimingRunner: takes the right to feed this database, which one process at a time may have; the
    ///   others can still read it and register tokens.
    public convenience init(path: String, claimingRunner: Bool = false) throws(StorageError) {
        try self.init(path: path, claimingRunner: claimingRunner, crash: nil)
    }

    /// - Parameter crash: is told of the crash points of everybody who works with this database.
    package init(path: String, claimingRunner: Bool, crash: CrashPoints?) throws(StorageError) {
        self.crash = crash
        let connection = try Connection(path: path, role: .writer)
        self.path = connection.path
        lock = Mutex(claimingRunner ? try RunnerLock(database: connection.path) : nil)
        try SystemTables.create(on: connection)
        writer = try Writer(connection, crash: crash)
    }

    deinit { close() }

    // MARK: Reading

    /// Runs `body` on a reading connection, on the calling thread. Sees every transaction committed before the call.
    /// Must not be nested.
    public func read<T>(_ body: (Connection) throws -> T) throws -> T {
        readerSlots.wait()
        defer { readerSlots.signal() }
        let connection = try takeReader()
        defer { giveBack(connection) }
        return try body(connection)
    }

    private func takeReader() throws -> Connection {
        let (idle, isClosed) = readers.withLock { (Handover(connection: $0.idle.popLast()), $0.isClosed) }
        if isClosed { throw StorageError.misuse("the database is closed") }
        return try idle.connection ?? Connection(path: path, role: .reader)
    }

    private func giveBack(_ connection: Connection) {
        let handover = Handover(connection: connection)
        readers.withLock { readers in
            if let connection = handover.connection, !readers.isClosed { readers.idle.append(connection) }
        }
    }

    // MARK: Writing

    /// Runs `body` in the writer's next transaction, which it may share with other bodies; returns once that is
    /// committed.
    ///
    /// A body that throws leaves nothing behind and does not disturb the others. It may run a second time when a
    /// neighbour's failure undid the first: it must have no effects but those on the transaction.
    public func write<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            submit(body) { continuation.resume(with: $0) }
        }
    }

    /// The same, blocking the calling thread.
    public func writeBlocking<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) throws -> T {
        guard !writer.isCurrent else { throw StorageError.misuse("the writer cannot wait for itself") }
        let done = DispatchSemaphore(value: 0)
        let outcome = Mutex<Result<T, any Error>?>(nil)
        submit(body) { result in
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { throw StorageError.misuse("the writer did not answer") }
        return try result.get()
    }

    /// The same with a callback, called on the writer's thread after the commit (or the failure). Never blocks.
    public func submit<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T,
        committed: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        writer.submit(BodySubmission(body, committed: committed))
    }

    // MARK: Closing

    /// Commits what was submitted, checkpoints and closes.
    public func close() {
        let isFirst = readers.withLock { readers in
            defer { readers.isClosed = true }
            return !readers.isClosed
        }
        guard isFirst else { return }
        let idle = readers.withLock { readers in
            defer { readers.idle = [] }
            return Readers(idle: readers.idle, isClosed: true)
        }
        for connection in idle.idle { connection.close() }
        writer.close()
        lock.withLock { $0 = nil }
    }
}
