import Synchronization
import Testing

@testable import Storage

@Suite struct RunnerLockTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A process that was killed holds its lock until the kernel has buried it.
    @Test func waitsForOneThatIsAboutToGo() throws {
        let held = Mutex<RunnerLock?>(try RunnerLock(database: scratch.path))
        var pauses = 0
        _ = try RunnerLock(database: scratch.path) {
            pauses += 1
            if pauses == 3 { held.withLock { $0 = nil } }
        }
        #expect(pauses == 3)
    }

    @Test func givesUpOnOneThatStays() throws {
        let held = try RunnerLock(database: scratch.path)
        var pauses = 0
        let error = #expect(throws: StorageError.self) {
            _ = try RunnerLock(database: scratch.path) { pauses += 1 }
        }
        #expect(pauses == RunnerLock.patience)
        #expect(error?.message == "another hark process uses this database: \(scratch.path)")
        _ = consume held
        // And is free at once for the next.
        _ = try RunnerLock(database: scratch.path) { Issue.record("nobody holds it") }
    }
}
