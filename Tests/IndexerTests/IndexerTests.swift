import ATProto
import HookKit
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Indexer

private let post = "com.example.post"
private let ada = JetstreamWriter.did("ada")
private let bob = JetstreamWriter.did("bob")

@Suite struct IndexerTests {
    let stage: Stage

    init() throws { stage = try Stage() }

    @Test func opsOfOneRepoReachAHookInOrderAndOnlyOnce() async throws {
        var story = JetstreamWriter()
        for index in 0..<50 {
            story.commit(.create, post, by: ada, rkey: "k\(index)", ["text": "hello"])
            story.redeliver()
            story.commit(.update, post, by: ada, rkey: "k\(index)", ["text": "edited"])
            story.commit(.create, post, by: bob, rkey: "k\(index)", ["text": "hello"])
        }
        let summary = try await stage.replay(story, hooks: [stage.recorder])
        let expected = (0..<50).flatMap { ["create at://\(ada)/\(post)/k\($0)", "update at://\(ada)/\(post)/k\($0)"] }
        #expect(stage.seen(by: ada) == expected)
        #expect(stage.seen(by: bob).count == 50)
        #expect(summary.events == 200)
        #expect(summary.commits == 200)
        #expect((summary.created, summary.updated, summary.deleted) == (100, 50, 0))
        #expect(summary.skipped == ["stale": 50])
        #expect(summary.hookRuns == 150)
    }

    @Test func feedingTheSameAgainChangesNothingAndRunsNoHook() async throws {
        var story = JetstreamWriter()
        story.commit(.create, post, by: ada, rkey: "a", ["text": "one"])
        story.commit(.create, post, by: ada, rkey: "b", ["text": "two"])
        story.commit(.delete, post, by: ada, rkey: "a")
        _ = try await stage.replay(story, hooks: [stage.recorder])
        let before = try stage.rows()
        let again = try await stage.replay(story, hooks: [stage.recorder])
        #expect(try stage.rows() == before)
        #expect(again.hookRuns == 0)
        #expect(again.skipped == ["stale": 3])
        #expect(stage.seen(by: ada).count == 3)
    }

    @Test func aDeletedRecordStaysDeletedAndMayComeAgainWithANewerRev() async throws {
        var story = JetstreamWriter()
        story.commit(.create, post, by: ada, rkey: "a", ["text": "one"])
        let created = story.text
        story.commit(.delete, post, by: ada, rkey: "a")
        story.raw(String(created.dropLast()))
        story.commit(.create, post, by: ada, rkey: "a", ["text": "again"])
        story.commit(.delete, post, by: ada, rkey: "never")
        let summary = try await stage.replay(story, hooks: [stage.recorder])
        #expect(try stage.rows().map(\.record) == [#"{"text":"again","$type":"com.example.post"}"#])
        #expect(summary.skipped == ["stale": 1, "unknown-record": 1])
        #expect(stage.seen(by: ada).map { $0.prefix(6) } == ["create", "delete", "create"])
    }

    @Test func brokenLinesAndRecordsCostOnlyThemselves() async throws {
        var story = JetstreamWriter()
        story.commit(.create, post, by: ada, rkey: "a", ["text": "one"])
        story.raw("not json")
        story.raw("")
        story.raw(#"{"did":"did:plc:x","kind":"commit"}"#)
        story.commit(.create, post, by: ada, rkey: "b", ["text": 5])
        story.commit(.create, "com.example.other", by: ada, rkey: "c", ["text": "other"])
        story.commit(.create, post, by: ada, rkey: "d", ["text": "two\u{0}three \u{202E}'); DROP TABLE x; --"])
        let summary = try await stage.replay(story, hooks: [])
        #expect(summary.skipped == ["malformed": 2, "wrong-type": 1, "not-kept": 1])
        #expect(summary.events == 6)
        let rows = try stage.rows()
        #expect(rows.map(\.rkey) == ["a", "d"])
        #expect(rows.last?.text == "two\u{0}three \u{202E}'); DROP TABLE x; --")
        #expect(stage.emitted.contains { $0.hasPrefix("indexer malformed") && $0.contains("line 2 (byte") })
    }

    @Test func manyBrokenLinesMakeAShortLog() async throws {
        var story = JetstreamWriter()
        for index in 0..<3_000 {
            story.raw("broken \(index)")
            if index < 30 { story.commit(.create, post, by: ada, rkey: "r\(index)", ["text": 5]) }
        }
        story.commit(.create, post, by: ada, rkey: "good", ["text": "good"])
        story.commit(.create, post, by: ada, rkey: "lone", [:])
        let summary = try await stage.replay(story, hooks: [])
        #expect(summary.skipped == ["malformed": 3_000, "wrong-type": 30, "missing-property": 1])
        #expect(try stage.rows().map(\.rkey) == ["good"])
        let lines = stage.emitted
        #expect(lines.filter { $0.hasPrefix("indexer malformed") }.count == ProblemReport.limit)
        #expect(lines.filter { $0.contains("reason=wrong-type") && $0.hasPrefix("indexer invalid") }.count == 20)
        let rest = lines.filter { $0.hasPrefix("indexer more") }
        #expect(rest.count == 2)
        #expect(rest.contains { $0.contains("reason=malformed") && $0.contains("count=3000") })
        #expect(rest.contains { $0.contains("reason=wrong-type") && $0.contains("count=30") })
        #expect(lines.last?.hasPrefix("indexer more") == true)
    }

    @Test func aThrowingHookDisturbsNobodyAndKeepsWhatItSent() async throws {
        struct Boom: Error {}
        var story = JetstreamWriter()
        for index in 0..<20 { story.commit(.create, post, by: ada, rkey: "k\(index)", ["text": "hello"]) }
        let throwing = defineHook(.onCommit(collections: [post]), name: "throwing") { context in
            context.push.send(did: bob, title: "t", body: context.rkey)
            throw Boom()
        }
        let summary = try await stage.replay(story, hooks: [throwing, stage.recorder])
        #expect(summary.hookRuns == 40)
        #expect(summary.hookErrors == 20)
        #expect(stage.seen(by: ada).count == 20)
        #expect(summary.pushQueued == 20)
        #expect(stage.committed == 20)
    }

    @Test func aHookThatOutlivesItsLimitIsLeftBehind() async throws {
        var story = JetstreamWriter()
        story.commit(.create, post, by: ada, rkey: "a", ["text": "hello"])
        story.commit(.create, post, by: ada, rkey: "b", ["text": "hello"])
        let late = AsyncStream.makeStream(of: Void.self)
        let stuck = defineHook(.onCommit(collections: [post]), name: "stuck") { context in
            guard context.rkey == "a" else { return }
            for await _ in late.stream { break }
            context.push.send(did: bob, title: "t", body: "too late")
        }
        let summary = try await stage.replay(
            story, hooks: [stuck, stage.recorder], timeout: .milliseconds(20))
        #expect(summary.hookErrors == 1)
        #expect(stage.seen(by: ada).count == 2)
        #expect(summary.pushQueued == 0)
        #expect(stage.emitted.contains { $0.hasPrefix("hooks error") && $0.contains("stuck") })
    }

    @Test func jobsThatWereLeftRunFirstAtTheNextStart() async throws {
        var story = JetstreamWriter()
        for index in 0..<5 { story.commit(.create, post, by: ada, rkey: "k\(index)", ["text": "hello"]) }
        let gate = AsyncStream.makeStream(of: Void.self)
        let blocked = defineHook(.onCommit(collections: [post]), name: "recorder") { _ in
            for await _ in gate.stream {}
        }
        try await stage.replayWithoutDraining(story, hooks: [blocked])
        let indexer = try stage.indexer(hooks: [stage.recorder])
        #expect(try await indexer.resumeJobs() == 5)
        #expect(stage.seen(by: ada) == (0..<5).map { "create at://\(ada)/\(post)/k\($0)" })
        #expect(try await stage.indexer(hooks: [stage.recorder]).resumeJobs() == 0)
    }

    @Test func aHookSeesItsOwnRecordAndMayWrite() async throws {
        var story = JetstreamWriter()
        for index in 0..<10 { story.commit(.create, post, by: ada, rkey: "k\(index)", ["text": "hello"]) }
        let counts = Mutex<[Int64]>([])
        let reading = defineHook(.onCommit(collections: [post]), name: "reading") { context in
            let rows = try await context.db.query(
                #"SELECT count(*) AS n FROM "com.example.post" WHERE uri = $1"#, [context.uri])
            let written = try await context.db.run(
                #"UPDATE "com.example.post" SET text = $1 WHERE uri = $2"#, ["seen", context.uri])
            counts.withLock { $0 += [rows.first?["n"]?.integer ?? 0, Int64(written)] }
        }
        let summary = try await stage.replay(story, hooks: [reading])
        #expect(summary.hookErrors == 0)
        #expect(counts.withLock { $0 } == [Int64](repeating: 1, count: 20))
        #expect(try stage.rows().allSatisfy { $0.text == "seen" })
    }
}
