import ATProto
import Testing

@testable import Simulators

/// What the invented evenings contain, and what they must lead to.
@Suite struct RecordingScenarioTests {
    @Test func tellsTheSameEveningFromTheSameSeed() {
        let evening = GrainEvening(seed: 7, events: 300)
        #expect(evening.jetstream() == GrainEvening(seed: 7, events: 300).jetstream())
        #expect(evening.jetstream() != GrainEvening(seed: 8, events: 300).jetstream())
        #expect(evening.expectations.pushes == GrainEvening(seed: 7, events: 300).expectations.pushes)
        #expect(evening.devices == GrainEvening(seed: 7, events: 300).devices)
    }

    @Test func drawsWhatSplitMix64Draws() {
        // From the reference implementation, for the seed 1234567.
        var random = SeededRandom(seed: 1_234_567)
        let drawn = (0..<3).map { _ in random.next() }
        #expect(drawn == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_827_696_789_999, "2000-02-29T12:34:56.789Z"),
            (1_783_188_000_000_000, "2026-07-04T18:00:00.000Z"), (4_107_542_399_999_000, "2100-02-28T23:59:59.999Z"),
        ] as [(Int64, String)])
    func writesDatetimes(microseconds: Int64, text: String) throws {
        #expect(datetimeText(microseconds) == text)
        #expect(try Datetime(text).microseconds == microseconds / 1000 * 1000)
    }

    @Test(arguments: [(1, 600), (2, 600), (3, 600), (4, 600), (5, 600), (6, 9000)] as [(UInt64, Int)])
    func hasOneOutcomeHoweverItIsBatched(seed: UInt64, events: Int) {
        let scenario = GrainEvening(seed: seed, events: events).scenario
        let pushes = EveningExpectations(scenario).pushes
        #expect(pushes.count > 100)
        #expect(EveningExpectations(inHindsight: scenario).pushes == pushes)
    }

    @Test(arguments: [1, 42, 0xffff_ffff_ffff_ffff] as [UInt64])
    func holdsEverythingThatCanHappen(seed: UInt64) {
        let evening = GrainEvening(seed: seed, events: 500)
        let outcome = evening.expectations
        #expect(
            outcome.commits + outcome.identities + outcome.accounts + outcome.unreadable == 500,
            "every event is of one kind")
        for count in [
            outcome.created, outcome.updated, outcome.deleted, outcome.stale, outcome.unknownDeletes,
            outcome.invalidRecords, outcome.faultyRecords, outcome.ignoredOps, outcome.unreadable,
            outcome.identities, outcome.accounts, outcome.redelivered, outcome.blankLines,
        ] {
            #expect(count > 0)
        }
        let types = Set(outcome.pushes.compactMap { $0.data["type"] })
        #expect(
            types == [
                "gallery-favorite", "story-favorite", "comment-favorite", "gallery-comment", "story-comment",
                "comment-reply", "follow",
            ])
        #expect(outcome.pushes.contains { $0.body.hasPrefix("Someone ") })
        #expect(
            outcome.pushes.allSatisfy { push in evening.dids.contains(push.recipient) || push.title == "New follower" })
        #expect(!outcome.removedDevices(of: evening.devices).isEmpty)
        var faults: Set<EveningOp.Fault> = []
        for case .commit(let commit) in evening.scenario.map(\.kind) {
            faults.formUnion(commit.ops.compactMap(\.fault))
        }
        #expect(faults == [.invalid, .otherContent, .float, .loneSurrogate, .missing])
    }

    @Test func hasNothingOddInAPlainEvening() {
        let evening = GrainEvening(seed: 5, events: 2000, plain: true)
        let outcome = evening.expectations
        #expect(outcome.created == 2000)
        #expect(outcome.commits == 2000 && outcome.ops == 2000)
        #expect(outcome.records.values.reduce(0) { $0 + $1.count } == 2000)
        #expect(evening.jetstream().count { $0 == 0x0a } == 2000)
    }

    @Test(arguments: [0, 1, 2, 3]) func canBeAsShortAsOneLikes(events: Int) {
        let evening = GrainEvening(seed: 1, people: 0, events: events)
        #expect(evening.expectations.commits == events)
        #expect(evening.jetstream().count { $0 == 0x0a } == evening.expectations.ops)
    }
}

/// A tiny evening written by hand: each push by name, and why the others are none.
@Suite struct RecordingExpectationTests {
    @Test func tellsWhoMustBeTold() {
        var evening = HandMade()
        evening.create("ada", .profile, "self", ["displayName": .string("Ada 🌾")])
        evening.create("bob", .profile, "self", [:])
        let gallery = evening.create("ada", .gallery, "g", ["title": .string("Wheat")])
        let story = evening.create("bob", .story, "s", [:])
        let first = evening.create("bob", .comment, "1", ["subject": gallery, "text": .string("!")])
        let second = evening.create("cy", .comment, "2", ["subject": gallery, "text": .string("?"), "replyTo": first])
        let third = evening.create("ada", .comment, "3", ["subject": gallery, "text": .string("."), "replyTo": second])
        // The parent's author is the gallery's: the reply alone.
        evening.create("bob", .comment, "4", ["subject": gallery, "text": .string("…"), "replyTo": third])
        // A reply to oneself, and one to nothing: the gallery's author hears of a comment.
        evening.create("bob", .comment, "5", ["subject": gallery, "text": .string("5"), "replyTo": first])
        evening.create(
            "cy", .comment, "6", ["subject": gallery, "text": .string("6"), "replyTo": .string("at://x/y/z")])
        evening.create("ada", .favorite, "a", ["subject": gallery])
        let favorite = evening.create("ada", .favorite, "b", ["subject": story])
        evening.create("cy", .favorite, "c", ["subject": first])
        evening.create("cy", .favorite, "d", ["subject": favorite])
        evening.create("cy", .favorite, "e", ["subject": .string("at://did:plc:bob/social.grain.gallery/none")])
        evening.follow("cy", "ada")
        evening.follow("ada", "ada")
        // Again and as an edit: nobody. Withdrawn and given anew: once more.
        evening.again()
        evening.change("ada", .update, .favorite, "b", ["subject": gallery])
        evening.change("ada", .delete, .favorite, "b", nil)
        evening.create("ada", .favorite, "b", ["subject": story])
        let commentOnGallery = ["type": "gallery-comment", "uri": gallery.string ?? ""]
        let reply = ["type": "comment-reply", "uri": gallery.string ?? ""]
        let favorited = ["type": "story-favorite", "uri": story.string ?? ""]
        let expected: [(String, String, String, [String: String])] = [
            ("ada", "New comment", "Someone commented on your gallery", commentOnGallery),
            ("bob", "New reply", "Someone replied to your comment", reply),
            ("ada", "New comment", "Someone commented on your gallery", commentOnGallery),
            ("cy", "New reply", "Ada 🌾 replied to your comment", reply),
            ("ada", "New reply", "Someone replied to your comment", reply),
            ("ada", "New comment", "Someone commented on your gallery", commentOnGallery),
            ("ada", "New comment", "Someone commented on your gallery", commentOnGallery),
            ("bob", "New favorite", "Ada 🌾 favorited your story", favorited),
            (
                "bob", "New favorite", "Someone favorited your comment",
                ["type": "comment-favorite", "uri": first.string ?? ""]
            ),
            ("ada", "New follower", "Someone followed you", ["type": "follow", "did": "did:plc:cy"]),
            ("bob", "New favorite", "Ada 🌾 favorited your story", favorited),
        ]
        let outcome = EveningExpectations(evening.events)
        #expect(
            outcome.pushes
                == expected.map { ExpectedPush(recipient: "did:plc:\($0)", title: $1, body: $2, data: $3) })
        #expect(outcome.stale == 1)
        #expect(outcome.updated == 1 && outcome.deleted == 1)
        #expect(outcome.records["social.grain.favorite"]?.count == 5)
        #expect(outcome.records["social.grain.comment"]?.count == 6)
    }
}

/// Events with readable names, one op a commit.
private struct HandMade {
    var events: [EveningEvent] = []

    @discardableResult
    mutating func create(
        _ who: String, _ collection: GrainCollection, _ rkey: String, _ record: [String: Value]
    ) -> Value {
        change(who, .create, collection, rkey, record)
        return .string("at://did:plc:\(who)/\(collection.rawValue)/\(rkey)")
    }

    mutating func change(
        _ who: String, _ action: Action, _ collection: GrainCollection, _ rkey: String, _ record: [String: Value]?
    ) {
        let value = record.map { RecordDraft.map($0.map { ($0.key, $0.value) }) }
        let time = EveningClock.start + Int64(events.count)
        let commit = EveningCommit(
            author: 0, did: "did:plc:\(who)", rev: TID(microseconds: time, clockID: 0),
            ops: [EveningOp(action: action, collection: collection, rkey: rkey, record: value)])
        tell(.commit(commit))
    }

    mutating func follow(_ who: String, _ subject: String) {
        create(who, .follow, "f", ["subject": .string("did:plc:\(subject)")])
    }

    mutating func again() { tell(.again(events.count - 1)) }

    private mutating func tell(_ kind: EveningEvent.Kind) {
        let time = EveningClock.start + Int64(events.count)
        events.append(EveningEvent(index: events.count, time: time, seq: Int64(events.count), kind: kind))
    }
}
