import ATProto
import Foundation
import Simulators
import Storage
import TestSupport
import Testing

/// A long run that fails in every way, and every command after it: no token, key or JWT stands whole in anything that
/// they print, nor in the database outside `_push_tokens`.
@Suite(.fewAtATime) struct SecrecyCommandTests {
    private static let misdeeds = [
        ("--answer", "ExpiredProviderToken:nth=90"), ("--answer", "503:every=7:first=1"), ("--answer", "410:every=41"),
        ("--answer", "BadTopic:every=37"), ("--answer", "429:every=11:first=1"), ("--answer", "reset:every=23"),
        ("--answer", "refuse:every=5:first=1"), ("--answer", "abort:every=101"), ("--goaway-after", "60:11"),
        ("--error-body", "split"),
    ]

    @Test func printsAndKeepsNoSecretWhole() async throws {
        var faults = Faults()
        for (flag, value) in Self.misdeeds { #expect(try faults.set(flag, value)) }
        let evening = GrainEvening(seed: 41, events: 500)
        let stage = try await ReplayStage(evening, faults: faults)
        let hark = stage.hark
        let folder = hark.folder.path
        let keyFile = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".p8") })
        let key = try String(contentsOfFile: folder + "/" + keyFile, encoding: .utf8)

        var results = [try await stage.replay(), try await stage.replay([])]
        #expect(results[0].status == 0, "\(results[0].errors)")
        #expect(results[0].errors.contains("push"), "the run has something to tell")
        // With a key that the gateway does not know, and with one that is none.
        try hark.write(try APNsCredentials.generate().keyPEM, to: keyFile)
        results.append(try await stage.replay())
        try hark.write(key.replacingOccurrences(of: "M", with: "!"), to: keyFile)
        results += [try await stage.replay(), try await hark.run(["check"])]
        try hark.write(key, to: keyFile)
        let uri = try #require(try texts("SELECT uri FROM \"social.grain.favorite\"", in: folder).first)
        for words in [
            ["queue", "list", "--limit", "100000"], ["queue", "list", "--limit", "100000", "--json"],
            ["queue", "explain", uri], ["queue", "retry", "--dead"], ["tokens", "list"], ["tokens", "list", "--json"],
            ["check"],
        ] { results.append(try await hark.run(words)) }
        let token = evening.devices[0].token
        results.append(try await hark.run(["tokens", "add", "--did", "x", "--platform", "apns"], input: token))
        results.append(
            try await hark.run(["tokens", "add", "--did", "did:plc:a", "--platform", "fcm"], input: token + "xyz"))

        let printed = results.map { $0.output + $0.errors }.joined(separator: "\n")
        let kept = try Self.tables(in: folder).joined(separator: "\n")
        #expect(kept.contains("BadTopic") && kept.contains("Unregistered"))
        let lines = key.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("---") && $0.count > 8 }
        for secret in evening.devices.map(\.token) + lines {
            #expect(!printed.contains(secret) && !kept.contains(secret), "…\(secret.suffix(4))")
            // Nor all but a little of it.
            #expect(!printed.contains(secret.dropLast(8)) && !kept.contains(secret.dropLast(8)))
        }
        for text in [printed, kept, try Self.bytes(of: folder)] {
            #expect(text.firstMatch(of: Self.jwt) == nil)
            for line in lines { #expect(!text.contains(line)) }
        }
    }

    /// Three base64url parts of which the first is a JSON object.
    private static var jwt: Regex<Substring> { /eyJ[\w-]+\.[\w-]+\.[\w-]+/ }

    private func texts(_ sql: String, in folder: String) throws -> [String] {
        let database = try Database(path: folder + "/hark.db")
        defer { database.close() }
        return try database.read { try $0.query(sql, []).rows.map { "\($0[0].text)" } }
    }

    /// Every row of every table but that of tokens, blobs as their bytes are.
    private static func tables(in folder: String) throws -> [String] {
        let database = try Database(path: folder + "/hark.db")
        defer { database.close() }
        return try database.read { connection in
            let names = try connection.query("SELECT name FROM sqlite_master WHERE type = 'table'", []).rows
            return try names.map { $0[0].text }.filter { $0 != "_push_tokens" }.flatMap { name in
                try connection.query("SELECT * FROM \"\(name)\"", []).rows.map { row in
                    row.map(\.text).joined(separator: "|")
                }
            }
        }
    }

    /// The database and its log, byte by byte as Latin-1.
    private static func bytes(of folder: String) throws -> String {
        ["", "-wal"].compactMap { FileManager.default.contents(atPath: folder + "/hark.db" + $0) }
            .map { String(data: $0, encoding: .isoLatin1) ?? "" }.joined()
    }
}

extension ColumnValue {
    fileprivate var text: String {
        switch self {
        case .text(let text): text
        case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .null: ""
        }
    }
}
