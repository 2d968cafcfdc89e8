import ATProto

/// A named piece of user code, with the trigger that starts it.
public struct Hook: Sendable {
    /// Stable over releases: it is part of the key that keeps a notification from going out twice.
    public let name: String
    public let trigger: Trigger
    public let body: @Sendable (HookContext) async throws -> Void

    public init(name: String, trigger: Trigger, body: @escaping @Sendable (HookContext) async throws -> Void) {
        self.name = name
        self.trigger = trigger
        self.body = body
    }
}

/// What starts a hook.
public enum Trigger: Sendable {
    /// Every applied op of these collections: exact NSIDs, families (`app.bsky.*`); empty matches all.
    case onCommit(collections: [String])

    public func matches(_ collection: String) -> Bool { filter.contains(collection) }

    /// The collections that this trigger wants.
    public var filter: CollectionFilter {
        switch self {
        case .onCommit(let collections): CollectionFilter(collections.isEmpty ? ["*"] : collections)
        }
    }
}

/// Makes a hook. Its name is its file's unless `name` is given.
///
/// ```swift
/// let onCommitFollow = defineHook(.onCommit(collections: ["social.grain.graph.follow"])) { context in
///     guard context.action == .create, let did = context.record?["subject"]?.string else { return }
///     context.push.send(did: did, title: "New follower", body: "Somebody followed you")
/// }
/// ```
public func defineHook(
    _ trigger: Trigger, name: String? = nil, file: StaticString = #fileID,
    _ body: @escaping @Sendable (HookContext) async throws -> Void
) -> Hook {
    Hook(name: name ?? fileName(of: file), trigger: trigger, body: body)
}

/// `Hooks/OnCommitFavorite.swift` → `OnCommitFavorite`.
private func fileName(of file: StaticString) -> String {
    let name = "\(file)".split(separator: "/").last ?? "hook"
    return name.hasSuffix(".swift") ? String(name.dropLast(6)) : String(name)
}
