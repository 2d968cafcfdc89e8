import ATProto
import Crypto
import Foundation
import HookKit
import Identity
import Storage
import XRPC

/// Registration under load: wrk registers devices with signed tokens of cached identities, and beside it asks the bare
/// server, whose handler is empty, in the same way. Server and wrk share the machine.
struct RegistrationBenchmark {
    private var rounds = 3
    private var seconds = 5
    private var accounts = 200
    private var connections = 64
    private static let server = "did:web:push.test"
    private static let method = "social.hatk.push.registerToken"
    /// More than are used in a second, so that none is used twice.
    private static let tokensASecond = 20_000

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else {
                throw BenchmarkError("\(flag) needs a number")
            }
            switch flag {
            case "--rounds": rounds = value
            case "--seconds": seconds = value
            case "--accounts": accounts = value
            case "--connections": connections = value
            default: throw BenchmarkError("unknown flag \(flag)")
            }
        }
    }

    func run() async throws {
        let scratch = "/dev/shm/hark-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let people = try (0..<accounts).map { try Person(number: $0) }
        let wrk = try Wrk(scratch: scratch, seconds: seconds, connections: connections)
        var (bare, registering) = (Figures(), Figures())
        for round in 1...rounds {
            try writeTokens(people, to: wrk.tokensFile)
            let empty = try await measureBare(wrk)
            let real = try await measureRegistration(wrk, people, database: "\(scratch)/\(round).db")
            bare.add(empty.rate)
            registering.add(real.rate)
            say(
                """
                round \(round): empty handler \(grouped(empty.rate))/s, p99 \(empty.p99); registration \
                \(grouped(real.rate))/s, p99 \(real.p99), errors \(real.errors)
                """)
            guard real.errors == 0 else { throw BenchmarkError("wrk met errors:\n\(real.text)") }
        }
        say("registration at \(rounded(registering.median / bare.median)) of the empty handler's rate (wanted: 0.20)")
    }

    // MARK: Servers

    private func limits() -> HTTPLimits {
        var limits = HTTPLimits()
        limits.requestsPerSecond = 0
        return limits
    }

    private func measureBare(_ wrk: Wrk) async throws -> Wrk.Run {
        let server = try HTTPServer(
            listen: "127.0.0.1:0", limits: limits(), refusals: { HTTPResponse(status: $0.status) },
            handler: { _ in .later { HTTPResponse(contentType: "application/json", body: Array("{}".utf8)) } })
        let run = try wrk.run(port: server.port, path: "/xrpc/\(Self.method)", usingTokensAgain: true)
        await server.stop()
        return run
    }

    private func measureRegistration(_ wrk: Wrk, _ people: [Person], database path: String) async throws -> Wrk.Run {
        let documents = Dictionary(people.map { ("/" + $0.did, $0.document) }) { first, _ in first }
        let directory = try HTTPServer(
            listen: "127.0.0.1:0", limits: limits(), refusals: { HTTPResponse(status: $0.status) },
            handler: { request in
                .now(
                    HTTPResponse(
                        status: documents[request.path] == nil ? 404 : 200, body: documents[request.path] ?? []))
            })
        let database = try Database(path: path)
        defer { database.close() }
        var options = PushServer.Options(did: try DID(Self.server))
        options.listen = "127.0.0.1:0"
        options.limits = limits()
        options.identity.directory = "http://127.0.0.1:\(directory.port)"
        let server = try PushServer(options, database: database, emit: .silent)
        let run = try wrk.run(port: server.port, path: "/xrpc/\(Self.method)")
        await server.stop()
        await directory.stop()
        return run
    }

    /// A token a line, in turn of the accounts.
    private func writeTokens(_ people: [Person], to file: String) throws {
        let expiry = Int(Date().timeIntervalSince1970) + 280
        var text = ""
        for number in 0..<seconds * Self.tokensASecond {
            text +=
                try people[number % people.count].token(number, for: Self.method, of: Self.server, expiry: expiry)
                + "\n"
        }
        try text.write(toFile: file, atomically: false, encoding: .utf8)
    }
}

/// An account with a key of its own.
private struct Person {
    let did: String
    let document: [UInt8]
    private let key: PrivateKey

    init(number: Int) throws {
        let letters = Array("abcdefghijklmnopqrstuvwxyz234567")
        let name = String((0..<24).map { letters[number >> ($0 * 5 % 60) & 31] })
        did = "did:plc:\(name)"
        key = try PrivateKey.generate(number % 2 == 0 ? .k256 : .p256)
        document = Array(
            """
            {"id":"\(did)","verificationMethod":[{"id":"\(did)#atproto","type":"Multikey","controller":"\(did)",\
            "publicKeyMultibase":"\(key.publicKey.multikey)"}]}
            """.utf8)
    }

    func token(_ number: Int, for method: String, of server: String, expiry: Int) throws -> String {
        let header = "{\"typ\":\"JWT\",\"alg\":\"\(key.curve.algorithm)\"}"
        let claims =
            "{\"iss\":\"\(did)\",\"aud\":\"\(server)\",\"lxm\":\"\(method)\",\"exp\":\(expiry),\"jti\":\"\(number)\"}"
        return try JSONWebToken(header: Array(header.utf8), claims: Array(claims.utf8), signedBy: key).text
    }
}
