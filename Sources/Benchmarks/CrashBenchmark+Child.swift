import CSQLite
import Foundation
import Hooks
import Runtime

/// The process that is killed: what `hark replay --json` does.
struct CrashChild {
    static let command = "crash-child"

    private let folder: String
    private let recording: String

    init(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw BenchmarkError("\(Self.command) needs a folder and a recording") }
        folder = arguments[0]
        recording = arguments[1]
    }

    func run() async throws {
        let configuration = try Configuration.load(
            file: folder + "/hark.json5", environment: ProcessInfo.processInfo.environment)
        let assembly = try Assembly(configuration, hooks: hooks, purpose: .replaying) { _ in }
        let summary = try await Replay(assembly).run([recording])
        await assembly.stop()
        say(summary.json.text)
    }

    static func start(folder: String, recording: String, port: UInt16) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [command, folder, recording]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "HARK_APNS_HOST": "127.0.0.1:\(port)", "HARK_APNS_CA_FILE": folder + "/ca.pem",
        ]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return process
    }
}

/// The outbox of a database that nobody has open.
enum OutboxReading {
    /// Keys in hexadecimal digits.
    static func rows(of path: String) throws -> [(key: String, state: String)] {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let sql = "SELECT lower(hex(dedupe_key)), state FROM _push_queue"
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK
        else { throw BenchmarkError("\(path): \(String(cString: sqlite3_errmsg(connection)))") }
        var rows: [(String, String)] = []
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            if let key = sqlite3_column_text(statement, 0), let state = sqlite3_column_text(statement, 1) {
                rows.append((String(cString: key), String(cString: state)))
            }
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else {
            throw BenchmarkError("\(path): \(String(cString: sqlite3_errmsg(connection)))")
        }
        return rows
    }
}
