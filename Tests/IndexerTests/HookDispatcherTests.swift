import HookKit
import Storage
import TestSupport
import Testing

@testable import Indexer

@Suite(.timeLimit(.minutes(10)))
struct HookDispatcherTests {
    private let scratch: ScratchFolder
    private let database: Database

    init() throws {
        scratch = try ScratchFolder()
        database = try Database(path: scratch.path + "/hark.db")
    }

    private func dispatcher(hook: Hook, limit: Int, byteLimit: Int) -> HookDispatcher {
        let outbox = NotificationOutbox { _, _ in
            fatalError("nothing is sent")
        } committed: { _ in
        }
        let runner = HookRunner(
            hooks: [hook], database: StoredHookDatabase(database: database), outbox: outbox, emit: .silent,
            deadlines: HookDeadlines(limit: .seconds(30)), executor: HookExecutor())
        return HookDispatcher(
            runner: runner, database: database, concurrency: 2, limit: limit, byteLimit: byteLimit)
    }

    private func job(_ id: Int64, recordSize: Int) -> HookJob {
        HookJob(
            id: id, action: .create, collection: "com.example.post", uri: "at://x/y/\(id)", did: "did:plc:a",
            rkey: "\(id)", rev: "r", cid: nil,
            record: Array("\"\(String(repeating: "a", count: recordSize - 2))\"".utf8),
            timeMicroseconds: 0, live: true)
    }

    /// Jobs' records are held in memory until they have run: few large ones fill it as well as many small ones.
    @Test(arguments: [(jobs: 3, size: 10), (jobs: 1, size: 1000), (jobs: 2, size: 500)])
    func countsJobsAndTheBytesOfTheirRecords(_ jobs: Int, _ size: Int) async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let waiting = defineHook(.onCommit(collections: []), name: "waiting") { _ in
            for await _ in gate.stream {}
        }
        let dispatcher = dispatcher(hook: waiting, limit: 3, byteLimit: 1000)
        #expect(dispatcher.hasRoom)
        for id in 1...jobs {
            dispatcher.enqueue([job(Int64(id), recordSize: size)])
            #expect(dispatcher.hasRoom == (id < jobs))
        }
        gate.continuation.finish()
        try await dispatcher.room()
        try await dispatcher.drain()
        #expect(dispatcher.hasRoom)
    }
}
