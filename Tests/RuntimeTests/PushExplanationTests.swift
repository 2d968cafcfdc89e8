import Hooks
import Simulators
import Storage
import TestSupport
import Testing

@testable import Runtime

/// What `hark queue explain` says of hooks that ran and sent nothing.
@Suite(.fewAtATime) struct PushExplanationTests {
    @Test func tellsThatAHookRanAndSentNothing() async throws {
        let stage = try await CrashStage(events: 300, answersAfter: .zero)
        try await stage.finish()
        let uris = try stage.texts("SELECT DISTINCT uri FROM _push_notes WHERE reason = 'silent: create'")
        let uri = try #require(uris.first)
        let queue = try PushQueue(database: stage.path + "/hark.db")
        defer { queue.close() }
        let lines = try queue.explain(uri, hooks: hooks).lines
        #expect(lines.contains { $0.contains("nothing queued") })
        #expect(
            lines.contains {
                $0.contains(
                    "the hook ran for this create and sent nothing: whom to tell, and whether of an own act, is the "
                        + "hook's decision, at 20")
            })
        // Each run has left a row, or a note.
        let left = try stage.texts("SELECT DISTINCT uri FROM _push_queue UNION SELECT DISTINCT uri FROM _push_notes")
        for record in try stage.texts("SELECT uri FROM \"social.grain.favorite\"") { #expect(left.contains(record)) }
    }

    @Test func notesNoSilenceThatNobodySweeps() async throws {
        let folder = try ConfigurationFolder()
        let evening = GrainEvening(seed: 31, events: 200)
        try evening.write(.jetstream, toFile: folder.path + "/evening.jsonl")
        let assembly = try Assembly(folder.configuration("{}"), hooks: hooks, purpose: .replaying) { _ in }
        _ = try await Replay(assembly).run([folder.path + "/evening.jsonl"])
        let notes = try assembly.database.read { try $0.query("SELECT uri FROM _push_notes", []).rows.count }
        #expect(notes == 0)
        await assembly.stop()
    }
}
