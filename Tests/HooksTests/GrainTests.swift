import ATProto
import Foundation
import HookKit
import Indexer
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Hooks

private let ada = JetstreamWriter.did("ada")
private let bob = JetstreamWriter.did("bob")
private let eve = JetstreamWriter.did("eve")
private let gallery = "at://\(ada)/social.grain.gallery/g"
private let story = "at://\(ada)/social.grain.story/s"
private let adasComment = "at://\(ada)/social.grain.comment/c"
private let bobsComment = "at://\(bob)/social.grain.comment/c"
private let now: Value = "2026-07-04T18:00:00.000Z"

/// What the shipped hooks tell whom, over a real database.
@Suite struct GrainTests {
    struct Push: Hashable, Sendable, CustomStringConvertible {
        var to, title, body, type: String
        var about: String
        var description: String { "\(to): \(title) / \(body) (\(type) \(about))" }
    }

    /// A gallery and a story of Ada's, a comment by each of Ada and Bob, and Bob's profile.
    private func beginning() -> JetstreamWriter {
        var line = JetstreamWriter()
        line.commit(
            .create, "social.grain.actor.profile", by: bob, rkey: "self", ["displayName": "Bob \"🎞\" O'Neil"])
        line.commit(.create, "social.grain.gallery", by: ada, rkey: "g", ["title": "Dunes", "createdAt": now])
        line.commit(.create, "social.grain.story", by: ada, rkey: "s", ["createdAt": now])
        line.commit(
            .create, "social.grain.comment", by: bob, rkey: "c",
            ["subject": .string(gallery), "text": "one", "createdAt": now])
        line.commit(
            .create, "social.grain.comment", by: ada, rkey: "c",
            ["subject": .string(gallery), "text": "two", "createdAt": now])
        return line
    }

    private func pushes(_ tell: (inout JetstreamWriter) -> Void) async throws -> [Push] {
        let scratch = try ScratchFolder()
        let database = try Database(path: scratch.path + "/hark.db")
        let lexicons = Lexicons(try Self.lexicons())
        let kept = CollectionFilter(lexicons.documents.keys)
        let schema = RecordSchema(lexicons: lexicons, kept: kept)
        _ = try schema.migrate(database)
        let sent = Mutex<[Push]>([])
        func feed(_ text: String) async throws {
            let indexer = Indexer(
                database: database, schema: schema, lexicons: lexicons, kept: kept, hooks: hooks,
                outbox: NotificationOutbox { notification, _ in
                    let push = Push(
                        to: notification.did, title: notification.title, body: notification.body,
                        type: notification.data["type"] ?? "",
                        about: notification.data["uri"] ?? notification.data["did"] ?? "")
                    sent.withLock { $0.append(push) }
                    return .nothing
                } committed: { _ in
                }, emit: .silent)
            try await indexer.replay(try Recording(path: scratch.file("story.jsonl", text.utf8)))
            try await indexer.drainHooks()
            #expect(indexer.summary.skipped.isEmpty)
            #expect(indexer.summary.hookErrors == 0)
        }
        var line = beginning()
        try await feed(line.text)
        sent.withLock { $0 = [] }
        let before = line.text
        tell(&line)
        try await feed(String(line.text.dropFirst(before.count)))
        return sent.withLock { $0 }
    }

    private static func lexicons() throws -> [Lexicon] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Hooks/Lexicons").standardizedFileURL
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .map { try Lexicon(json: [UInt8](Data(contentsOf: $0))) }
    }

    @Test(arguments: [
        (gallery, ada, "gallery"), (story, ada, "story"), (adasComment, ada, "comment"),
    ])
    func aFavoriteTellsTheAuthor(subject: String, author: String, kind: String) async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.favorite", by: bob, rkey: "f",
                ["subject": .string(subject), "createdAt": now])
        }
        let body = "Bob \"🎞\" O'Neil favorited your \(kind)"
        #expect(
            pushes == [Push(to: author, title: "New favorite", body: body, type: "\(kind)-favorite", about: subject)])
    }

    @Test func anActorWithoutProfileIsSomeone() async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.favorite", by: eve, rkey: "f",
                ["subject": .string(gallery), "createdAt": now])
        }
        #expect(pushes.map(\.body) == ["Someone favorited your gallery"])
    }

    @Test(arguments: [(gallery, "gallery"), (story, "story")])
    func aCommentTellsTheAuthor(subject: String, kind: String) async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.comment", by: bob, rkey: "d",
                ["subject": .string(subject), "text": "nice", "createdAt": now])
        }
        let body = "Bob \"🎞\" O'Neil commented on your \(kind)"
        #expect(pushes == [Push(to: ada, title: "New comment", body: body, type: "\(kind)-comment", about: subject)])
    }

    @Test func aReplyTellsTheParentsAuthorAndTheGallerysAuthorOfAComment() async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.comment", by: eve, rkey: "d",
                ["subject": .string(gallery), "text": "so", "replyTo": .string(bobsComment), "createdAt": now])
        }
        #expect(
            Set(pushes) == [
                Push(
                    to: bob, title: "New reply", body: "Someone replied to your comment", type: "comment-reply",
                    about: gallery),
                Push(
                    to: ada, title: "New comment", body: "Someone commented on your gallery", type: "gallery-comment",
                    about: gallery),
            ])
    }

    @Test func whoWouldGetBothGetsTheReply() async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.comment", by: bob, rkey: "d",
                ["subject": .string(gallery), "text": "so", "replyTo": .string(adasComment), "createdAt": now])
        }
        #expect(pushes.map(\.type) == ["comment-reply"])
        #expect(pushes.map(\.to) == [ada])
    }

    @Test func aReplyToOneselfStillTellsTheGallerysAuthor() async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.comment", by: bob, rkey: "d",
                ["subject": .string(gallery), "text": "so", "replyTo": .string(bobsComment), "createdAt": now])
        }
        #expect(pushes.map(\.type) == ["gallery-comment"])
    }

    @Test func aReplyOfTheGallerysAuthorTellsOnlyTheParentsAuthor() async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.comment", by: ada, rkey: "d",
                ["subject": .string(gallery), "text": "so", "replyTo": .string(bobsComment), "createdAt": now])
        }
        #expect(pushes.map(\.to) == [bob])
    }

    @Test func aFollowTellsTheFollowed() async throws {
        let pushes = try await pushes {
            $0.commit(
                .create, "social.grain.graph.follow", by: bob, rkey: "f", ["subject": .string(ada), "createdAt": now])
        }
        let body = "Bob \"🎞\" O'Neil followed you"
        #expect(pushes == [Push(to: ada, title: "New follower", body: body, type: "follow", about: bob)])
    }

    @Test func ownActsUnknownSubjectsEditsAndDeletesTellNobody() async throws {
        let pushes = try await pushes {
            for (index, subject) in [gallery, story, adasComment].enumerated() {
                $0.commit(
                    .create, "social.grain.favorite", by: ada, rkey: "own\(index)",
                    ["subject": .string(subject), "createdAt": now])
            }
            $0.commit(
                .create, "social.grain.graph.follow", by: ada, rkey: "f", ["subject": .string(ada), "createdAt": now])
            for subject in ["at://\(ada)/social.grain.gallery/unknown", "at://\(ada)/app.bsky.feed.post/p"] {
                $0.commit(
                    .create, "social.grain.favorite", by: bob, rkey: String(subject.suffix(7).filter(\.isLetter)),
                    ["subject": .string(subject), "createdAt": now])
            }
            $0.commit(
                .create, "social.grain.comment", by: bob, rkey: "d",
                [
                    "subject": .string("at://\(ada)/social.grain.gallery/unknown"), "text": "so",
                    "replyTo": .string(adasComment), "createdAt": now,
                ])
            $0.commit(
                .update, "social.grain.comment", by: bob, rkey: "c",
                ["subject": .string(gallery), "text": "edited", "createdAt": now])
            $0.commit(.delete, "social.grain.comment", by: bob, rkey: "c")
        }
        #expect(pushes == [])
    }
}
