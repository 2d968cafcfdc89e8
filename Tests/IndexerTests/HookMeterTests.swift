import HookKit
import TestSupport
import Testing

@testable import Indexer

/// What is counted of each hook's runs.
@Suite(.fewAtATime, .timeLimit(.minutes(10))) struct HookMeterTests {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "<b>broken</b> " + String(repeating: "é", count: 400) }
    }

    @Test func countsEachHookByItself() async throws {
        let stage = try Stage()
        var story = JetstreamWriter()
        for rkey in ["a", "b", "c"] {
            story.commit(.create, "com.example.post", by: JetstreamWriter.did("ada"), rkey: rkey, ["text": "hello"])
        }
        let thrower = defineHook(.onCommit(collections: ["com.example.*"]), name: "thrower") { context in
            if context.rkey == "b" { throw Broken() }
        }
        let idle = defineHook(.onCommit(collections: ["com.example.other"]), name: "idle") { _ in }
        let indexer = try stage.indexer(hooks: [stage.recorder, thrower, idle])
        try await indexer.replay(try Recording(path: stage.scratch.file("story.jsonl", story.text.utf8)))
        try await indexer.drainHooks()

        let figures = indexer.hookFigures
        #expect(Set(figures.keys) == ["recorder", "thrower", "idle"])
        #expect(figures["idle"] == HookFigures())
        #expect(figures["recorder"]?.runs == 3 && figures["recorder"]?.lastFailure == nil)
        let broken = try #require(figures["thrower"])
        #expect(broken.runs == 3 && broken.errors == 1)
        #expect(broken.time >= broken.longest && broken.longest > .zero)
        let failure = try #require(broken.lastFailure)
        #expect(failure.uri.hasSuffix("/com.example.post/b"))
        #expect(failure.error.hasPrefix("<b>broken</b> é") && failure.error.hasSuffix("…"))
        #expect(failure.error.utf8.count <= 310)
        #expect(failure.time > 1_700_000_000_000)
        for figures in figures.values { #expect(figures.classes.reduce(0, +) == figures.runs) }
        #expect(indexer.summary.hookRuns == 6 && indexer.summary.hookErrors == 1)
        #expect(indexer.summary.ops == 3)
    }

    @Test(arguments: [
        (Duration.zero, 0), (.milliseconds(1), 0), (.microseconds(1001), 1), (.milliseconds(2), 1), (.seconds(30), 13),
        (.seconds(31), 14),
    ])
    func putsTimesIntoClasses(duration: Duration, place: Int) {
        var figures = HookFigures()
        figures.ran(for: duration)
        #expect(figures.classes.firstIndex(of: 1) == place)
        #expect(figures.longest == duration)
        #expect(HookFigures.bounds == HookFigures.bounds.sorted())
    }
}
