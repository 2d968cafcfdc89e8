import ATProto
import Foundation
import Testing

@testable import Storage

@Suite struct CrashTests {
    /// A batch's rows, jobs and cursor are there together or not at all, whatever moment the process is killed in.
    @Test func aKilledProcessLeavesWholeBatches() async throws {
        let scratch = try Scratch()
        let path = scratch.path
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [path = path as String] in
            let database = try Database(path: path, claimingRunner: true)
            let schema = makeSchema()
            for number in 1... {
                var batch = RecordBatch()
                batch.changes = try (0..<20).map {
                    try change(
                        schema, .create, "app.example.c\($0 % 3)", "\(number)-\($0)", rev: "a", map([:]), wanted: true)
                }
                batch.cursor = ("test", Int64(number))
                database.submit { [batch] in
                    try $0.apply(batch)
                } committed: { result in
                    guard case .success = result else { exit(2) }
                    print(number)
                    fflush(nil)
                    if number == 40 { kill(getpid(), SIGKILL) }
                }
            }
        }
        let reported =
            String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            .split(whereSeparator: \.isNewline).compactMap { Int64($0) }.max() ?? 0
        #expect(reported == 40)
        // The dead process's lock is free again.
        let database = try scratch.open(claimingRunner: true)
        let cursor = try #require(try database.read { try $0.cursor(source: "test") })
        #expect(cursor >= reported)
        var rows: Int64 = 0
        for number in 0..<3 { rows += try database.number("SELECT count(*) FROM \"app.example.c\(number)\"") ?? 0 }
        #expect(rows == cursor * 20)
        #expect(try database.number("SELECT count(*) FROM _hook_jobs") == cursor * 20)
        let jobs = try database.writeBlocking { try $0.unfinishedJobs(after: 0, limit: .max) }
        #expect(jobs.map(\.id) == Array(1...cursor * 20))
        let check = try database.writeBlocking { transaction in
            try transaction.connection.prepare("PRAGMA integrity_check").first { $0.text(0) }
        }
        #expect(check == "ok")
    }

    @Test func oneRunnerAtATime() throws {
        let scratch = try Scratch()
        let runner = try scratch.open(claimingRunner: true)
        let error = #expect(throws: StorageError.self) { _ = try scratch.open(claimingRunner: true) }
        #expect(error?.message.contains("another hark process uses this database") == true)
        // Others may read and register meanwhile.
        let other = try scratch.open()
        let token = NewPushToken(did: "did:a", token: "one", platform: "apns", environment: "sandbox")
        _ = try other.writeBlocking { try $0.register(token, now: 0) }
        #expect(try runner.read { try $0.tokens(did: "did:a") }.count == 1)
        other.close()
        #expect(throws: StorageError.self) { _ = try scratch.open(claimingRunner: true) }
        runner.close()
        try scratch.open(claimingRunner: true).close()
    }

    @Test func aLinkedDatabaseIsTheSameDatabase() throws {
        let scratch = try Scratch()
        let runner = try scratch.open(claimingRunner: true)
        let link = scratch.directory.appending(path: "link.db").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch.path)
        #expect(throws: StorageError.self) { _ = try Database(path: link, claimingRunner: true) }
        runner.close()
    }

    @Test(arguments: ["", "a\0b", "/nonexistent/x/y.db"]) func unusablePathsAreRefused(_ path: String) {
        #expect(throws: StorageError.self) { _ = try Database(path: path) }
    }

    @Test func otherFilesAreRefused() throws {
        let scratch = try Scratch()
        try Data(repeating: 65, count: 5000).write(to: URL(filePath: scratch.path))
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.message.contains("not an SQLite database") == true)
    }

    @Test(arguments: ["PRAGMA application_id = 1", "PRAGMA user_version = 99"])
    func othersDatabasesAreRefused(_ sql: String) throws {
        let scratch = try Scratch()
        try scratch.open().close()
        let connection = try Connection(path: scratch.path, role: .writer)
        try connection.execute(sql)
        connection.close()
        #expect(throws: StorageError.self) { _ = try scratch.open() }
    }

    @Test func closingLeavesOneFile() throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let schema = makeSchema()
        try database.apply(change(schema, .create, "app.example.x", "1", rev: "a", map([:])))
        _ = try database.rows("SELECT 1")
        database.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path) == ["test.db"])
    }
}
