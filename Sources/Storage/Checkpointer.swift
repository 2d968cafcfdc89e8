/// Decides when and by whom the write-ahead log is copied back into the database file. Confined to the writer's thread.
///
/// A long copy runs on a thread of its own, beside the writer, which lengthens the log meanwhile; a short rest the
/// writer copies itself. Only a log that was copied to its end begins anew.
///
/// | the log holds (pages of 4 KiB) | while the writer is | |
/// |---|---|---|
/// | 1,024 not copied | idle | copied beside the writer |
/// | 16,384 | busy | copied beside the writer |
/// | 16,384, fewer than 2,048 not copied | busy | the writer copies the rest |
/// | 131,072 | busy | the writer waits for the copy: the disk is too slow |
final class Checkpointer {
    private static let idleFrames: Int32 = 1024
    private static let busyFrames: Int32 = 16_384
    private static let restFrames: Int32 = 2048
    private static let waitFrames: Int32 = 131_072
    private static let idleMilliseconds: Int64 = 200

    private let connection: Connection
    private let copier: LogCopier
    private let crash: CrashPoints?
    /// The log's length after the last commit.
    private var frames: Int32 = 0
    /// Where the last copy ended.
    private var copied: Int32 = 0
    /// A copy that readers held back is tried again when the log has this length.
    private var retryFrames: Int32 = 0

    init(_ connection: Connection, crash: CrashPoints?) throws(StorageError) {
        self.connection = connection
        self.crash = crash
        copier = try LogCopier(path: connection.path, crash: crash)
    }

    /// How long the writer may sleep before it is to call `idle`, in milliseconds; nil: for ever.
    var patience: Int64? { frames - copied > Self.idleFrames && frames >= retryFrames ? Self.idleMilliseconds : nil }

    /// After each commit.
    func committed() {
        let length = connection.state.pointee.logFrames
        if length < frames { (copied, retryFrames) = (0, 0) }
        frames = length
        guard frames >= max(Self.busyFrames, retryFrames) else { return }
        if frames >= Self.waitFrames { copier.wait() }
        guard noteOutcome(), frames >= retryFrames else { return }
        if frames - copied < Self.restFrames {
            note(LogCopier.copy(connection, crash: crash))
        } else {
            copier.start()
        }
    }

    func idle() {
        if noteOutcome(), patience != nil { copier.start() }
    }

    /// Ends the thread after a running copy. What the log still holds is copied when the file's last connection closes.
    func finish() { copier.close() }

    /// False while a copy is running.
    private func noteOutcome() -> Bool {
        guard case .ended(let end) = copier.takeOutcome() else { return false }
        if let end { note(end) }
        return true
    }

    private func note(_ end: Int32) {
        // Without progress somebody reads what lies there, and the next try waits until it is worth more.
        retryFrames = end > copied ? 0 : frames + Self.busyFrames
        copied = min(end, frames)
    }
}
