/// Which `push.send` a notification came from; with the token it makes the dedupe key.
public struct SendOrigin: Sendable, Hashable {
    public var hook: String
    public var uri: String
    public var rev: String
    /// 0 for the first `send` of a hook's run, 1 for the next, …
    public var place: Int
    /// When the event happened, in milliseconds since 1970; nil when it is not known.
    public var time: Int64?

    public init(hook: String, uri: String, rev: String, place: Int, time: Int64? = nil) {
        self.hook = hook
        self.uri = uri
        self.rev = rev
        self.place = place
        self.time = time
    }
}
