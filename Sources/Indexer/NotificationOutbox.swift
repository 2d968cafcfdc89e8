import HookKit
import Storage

/// Where hooks' notifications go: made into outbox entries, and announced once they are committed.
public struct NotificationOutbox: Sendable {
    /// One `push.send`: which hook made it, for which op, and its place in that run.
    public typealias Encode =
        @Sendable (_ notification: Notification, _ hook: String, _ uri: String, _ rev: String, _ place: Int) ->
        OutboxEntry?

    /// nil when the notification cannot be sent; that has been reported then.
    public var entry: Encode
    /// Rows are in the outbox. Called on the writer's thread; must not block.
    public var committed: @Sendable (_ rows: Int) -> Void

    public init(entry: @escaping Encode, committed: @escaping @Sendable (_ rows: Int) -> Void) {
        self.entry = entry
        self.committed = committed
    }

    /// Push is off: `push.send` does nothing.
    public static let off = NotificationOutbox(entry: { _, _, _, _, _ in nil }, committed: { _ in })
}
