import HookKit
import Storage

/// Where hooks' notifications go: made into drafts of outbox rows, and announced once they are committed.
public struct NotificationOutbox: Sendable {
    /// One `push.send`, and where it came from.
    public typealias Encode = @Sendable (_ notification: Notification, _ origin: SendOrigin) -> OutboxDraft

    /// What cannot be sent has been reported when this returns.
    public var draft: Encode
    /// Jobs' ends are committed. Called on the writer's thread; must not block.
    public var committed: @Sendable (_ writes: OutboxWrites) -> Void
    /// Whether runs that send nothing are to be noted: somebody must sweep the notes.
    public var notesSilence: Bool

    public init(
        draft: @escaping Encode, committed: @escaping @Sendable (_ writes: OutboxWrites) -> Void,
        notesSilence: Bool = true
    ) {
        self.draft = draft
        self.committed = committed
        self.notesSilence = notesSilence
    }

    /// Push is off: `push.send` does nothing.
    public static let off = NotificationOutbox(
        draft: { _, _ in .nothing }, committed: { _ in }, notesSilence: false)
}
