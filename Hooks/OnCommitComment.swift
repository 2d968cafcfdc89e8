import HookKit

/// Tells a comment's author of a reply, and the author of a gallery or story of a comment.
/// Who would get both gets the reply.
let onCommitComment = defineHook(.onCommit(collections: ["social.grain.comment"])) { context in
    guard context.action == .create, let uri = context.record?["subject"]?.string,
        let subject = GrainSubject(uri: uri), subject != .comment,
        let author = try await subject.author(of: uri, in: context)
    else { return }
    let name = try await context.actorName()

    var repliedTo: String?
    if let parent = context.record?["replyTo"]?.string {
        repliedTo = try await GrainSubject.comment.author(of: parent, in: context)
    }
    if let repliedTo, repliedTo != context.repo {
        context.push.send(
            did: repliedTo, title: "New reply", body: "\(name) replied to your comment",
            data: ["type": "comment-reply", "uri": uri])
    }
    if author != context.repo, author != repliedTo {
        context.push.send(
            did: author, title: "New comment", body: "\(name) commented on your \(subject)",
            data: ["type": "\(subject)-comment", "uri": uri])
    }
}
