import Foundation
import HookKit
import Net
import TestSupport
import Testing

@testable import Push
@testable import Storage

/// A long delivery to a gateway that does everything wrong and says every secret back: none of it is kept or told.
@Suite(.fewAtATime, .timeLimit(.minutes(10)))
struct SecrecyTests {
    @Test func keepsSecretsThroughALongFaultyRun() async throws {
        var tuning = PushTuning()
        tuning.requestTimeout = .milliseconds(80)
        tuning.maximumAttempts = 3
        let bench = try Bench(tuning: tuning) { request in Self.misbehave(request) }
        let tokens = deviceTokens(40)
        try bench.register(tokens)
        try bench.send(30)
        #expect(await bench.drain() == 0)
        await bench.service.stop(deadline: .seconds(1))
        let jwts = Set(bench.gateway.received.map { String($0["authorization"].dropFirst("bearer ".count)) })
        #expect(jwts.count >= 2)

        var texts = bench.lines + ["\(bench.configuration)", String(reflecting: bench.configuration)]
        #expect(texts.count >= 50)
        texts += try bench.dump(without: "_push_tokens")
        #expect(texts.contains { $0.contains("Unregistered") })
        let key = bench.configuration.keyPEM.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("---") }
        for secret in tokens + jwts + key + jwts.flatMap({ $0.split(separator: ".").map(String.init) }) {
            #expect(!texts.contains { $0.contains(secret) })
        }
        for text in texts { #expect(text.firstMatch(of: Self.jwt) == nil) }

        let file = try bench.fileBytes()
        for secret in jwts.map({ String($0.suffix(40)) }) + key { #expect(!file.contains(secret)) }
    }

    /// Three base64url parts of which the first is a JSON object.
    private static var jwt: Regex<Substring> { /eyJ[\w-]+\.[\w-]+\.[\w-]+/ }

    private static func misbehave(_ request: Gateway.Request) {
        let secret = request["authorization"] + " " + request.token
        let echo = "{\"reason\":\"\(secret)\",\"token\":\"\(request.token)\"}"
        let first = request.gateway.received.first?["authorization"]
        if request.number > 200, request["authorization"] == first {
            return request.refuse(403, "ExpiredProviderToken")
        }
        switch request.number % 23 {
        case 3: request.answer(400, echo)
        case 5: request.answer(503, secret)
        case 7: request.answer(500, "<html>\(secret)</html>", retryAfter: secret)
        case 9: request.peer.reset(stream: request.stream, errorCode: 7)
        case 11: request.peer.reset(stream: request.stream, errorCode: 2)
        case 13 where request.number % 5 == 0:
            request.peer.goAway(lastStream: request.stream, errorCode: 11, debug: Array(echo.utf8))
        case 15 where request.number % 7 == 0: request.peer.abort()
        case 17 where request.number < 400: break
        case 19 where request.number % 3 == 0:
            request.answer(
                410, "{\"reason\":\"Unregistered\",\"timestamp\":1900000000000,\"token\":\"\(request.token)\"}")
        case 21: request.answer(429, "{\"reason\":\"TooManyRequests\"}", retryAfter: "1")
        default: request.answer(200)
        }
    }
}

extension Bench {
    /// Every row of every other table, as text.
    fileprivate func dump(without excluded: String) throws -> [String] {
        try database.read { connection in
            var tables: [String] = []
            try connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").forEachRow {
                tables.append($0.text(0))
            }
            var rows: [String] = []
            for table in tables where table != excluded {
                var columns: [String] = []
                try connection.prepare("SELECT name FROM pragma_table_info('\(table)')").forEachRow {
                    columns.append("ifnull(CAST(\"\($0.text(0))\" AS TEXT), '')")
                }
                let all = columns.joined(separator: " || '|' || ")
                try connection.prepare("SELECT \(all) FROM \"\(table)\"").forEachRow { rows.append($0.text(0)) }
            }
            return rows
        }
    }

    /// The database and its log, byte by byte as Latin-1.
    fileprivate func fileBytes() throws -> String {
        var text = ""
        for suffix in ["", "-wal"] {
            guard let data = FileManager.default.contents(atPath: database.path + suffix) else { continue }
            text += String(data: data, encoding: .isoLatin1) ?? ""
        }
        return text
    }
}
