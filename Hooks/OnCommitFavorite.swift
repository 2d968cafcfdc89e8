import HookKit

/// Tells the author of a gallery, story or comment that somebody favorited it.
let onCommitFavorite = defineHook(.onCommit(collections: ["social.grain.favorite"])) { context in
    guard context.action == .create, let uri = context.record?["subject"]?.string,
        let subject = GrainSubject(uri: uri),
        let author = try await subject.author(of: uri, in: context), author != context.repo
    else { return }
    context.push.send(
        did: author, title: "New favorite",
        body: "\(try await context.actorName()) favorited your \(subject)",
        data: ["type": "\(subject)-favorite", "uri": uri])
}
