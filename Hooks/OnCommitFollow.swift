import HookKit

/// Tells a person that somebody followed them.
let onCommitFollow = defineHook(.onCommit(collections: ["social.grain.graph.follow"])) { context in
    guard context.action == .create, let followed = context.record?["subject"]?.string, followed != context.repo
    else { return }
    context.push.send(
        did: followed, title: "New follower", body: "\(try await context.actorName()) followed you",
        data: ["type": "follow", "did": context.repo])
}
