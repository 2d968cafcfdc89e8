import Foundation
import Testing

@testable import Storage

/// A database holds device tokens.
struct PrivacyTests {
    private func modes(_ scratch: Scratch) throws -> [String: Int] {
        var modes: [String: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path) {
            let path = scratch.directory.appending(path: name).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            modes[name] = mode
        }
        return modes
    }

    @Test func isItsOwnersAlone() throws {
        let scratch = try Scratch()
        let database = try scratch.open(claimingRunner: true)
        defer { database.close() }
        #expect(
            try modes(scratch) == ["test.db": 0o600, "test.db-wal": 0o600, "test.db-shm": 0o600, "test.db-lock": 0o600])
    }

    @Test func staysAsSomebodyHasMadeIt() throws {
        let scratch = try Scratch()
        #expect(FileManager.default.createFile(atPath: scratch.path, contents: nil))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: scratch.path)
        let database = try scratch.open()
        defer { database.close() }
        #expect(try modes(scratch) == ["test.db": 0o640, "test.db-wal": 0o640, "test.db-shm": 0o640])
    }
}
