import CSQLite

/// Decides when the write-ahead log is copied back into the database file. Confined to the writer's thread.
final class Checkpointer {
    /// Frames (pages of 4 KiB) after which the copying no longer waits for an idle moment: 64 MiB.
    private static let framesUnderLoad: Int32 = 16_384
    /// Fewer are not worth a copy while idle: 4 MiB.
    private static let framesWhenIdle: Int32 = 1024
    private static let idleMilliseconds: Int64 = 200

    private let connection: Connection
    /// The log's length at which to try next: beyond its end when readers held the last copy back.
    private var nextFrames = framesUnderLoad
    private var copiedFrames: Int32 = 0

    init(_ connection: Connection) { self.connection = connection }

    private var logFrames: Int32 { connection.state.pointee.logFrames }

    /// How long the writer may sleep before it is to call `idle`, in milliseconds.
    var patience: Int64? {
        logFrames > copiedFrames + Self.framesWhenIdle || logFrames < copiedFrames ? Self.idleMilliseconds : nil
    }

    func committed() {
        if logFrames < nextFrames - Self.framesUnderLoad { nextFrames = Self.framesUnderLoad }
        if logFrames >= nextFrames { copy() }
    }

    func idle() { copy() }

    /// Copies everything and empties the log, as far as other processes let it.
    func finish() { sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) }

    private func copy() {
        var frames: Int32 = 0
        var copied: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(
            connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied)
        copiedFrames = code == SQLITE_OK ? max(copied, 0) : logFrames
        nextFrames = logFrames + Self.framesUnderLoad
    }
}
