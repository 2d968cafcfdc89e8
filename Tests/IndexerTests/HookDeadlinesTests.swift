import Testing

@testable import Indexer

@Suite(.timeLimit(.minutes(10)))
struct HookDeadlinesTests {
    @Test func failsWhatRunsTooLongAndNothingElse() async throws {
        let deadlines = HookDeadlines(limit: .milliseconds(20))
        let (slow, quick) = (Completion<Void>(), Completion<Void>())
        _ = deadlines.watch(slow)
        deadlines.forget(deadlines.watch(quick))
        await #expect(throws: HookOverran.self) { try await slow.value() }
        quick.finish(.success(()))
        try await quick.value()
        #expect(deadlines.count == 0)
    }

    @Test func watchesAgainAfterARest() async throws {
        let deadlines = HookDeadlines(limit: .milliseconds(5))
        for _ in 0..<3 {
            let late = Completion<Void>()
            _ = deadlines.watch(late)
            await #expect(throws: HookOverran.self) { try await late.value() }
        }
    }

    @Test func keepsNothingOfWhatEnded() {
        let deadlines = HookDeadlines(limit: .seconds(30))
        for _ in 0..<10_000 { deadlines.forget(deadlines.watch(Completion())) }
        #expect(deadlines.count == 0)
    }
}
