import ATProto
import Crypto
import Foundation
import HookKit
import Identity
import Storage
import Synchronization
import TestSupport

@testable import XRPC

/// A PLC directory on this machine, with the documents that a test puts in.
final class TestDirectory: Sendable {
    private final class Shelf: Sendable {
        struct State {
            var documents: [String: String] = [:]
            var requests = 0
            var isHanging = false
            var status: Int?
        }
        let state = Mutex(State())

        func reply(_ request: HTTPRequest) -> HTTPReply {
            let (document, isHanging, status) = state.withLock { state in
                state.requests += 1
                return (state.documents[String(request.path.dropFirst())], state.isHanging, state.status)
            }
            let response = HTTPResponse(
                status: status ?? (document == nil ? 404 : 200), body: [UInt8]((document ?? "{}").utf8))
            guard isHanging else { return .now(response) }
            return .later {
                try? await Task.sleep(for: .seconds(30))
                return response
            }
        }
    }

    private let shelf = Shelf()
    private let server: HTTPServer

    init() throws {
        var limits = HTTPLimits()
        limits.requestsPerSecond = 0
        server = try HTTPServer(
            listen: "127.0.0.1:0", limits: limits, refusals: { HTTPResponse(status: $0.status) },
            handler: { [shelf] in shelf.reply($0) })
    }

    var url: String { "http://127.0.0.1:\(server.port)" }
    var requests: Int { shelf.state.withLock { $0.requests } }
    /// Answers every request with this status.
    func fail(status: Int?) { shelf.state.withLock { $0.status = status } }
    func hang() { shelf.state.withLock { $0.isHanging = true } }
    func stop() async { await server.stop(deadline: .zero) }

    func put(_ did: String, key: PublicKey) {
        let document = """
            {"@context":["https://www.w3.org/ns/did/v1"],"id":"\(did)","verificationMethod":[{"id":"\(did)#atproto",
            "type":"Multikey","controller":"\(did)","publicKeyMultibase":"\(key.multikey)"}]}
            """
        shelf.state.withLock { $0.documents[did] = document }
    }
}

/// An invented account with a real key.
struct Account: Sendable {
    var did: String
    var key: PrivateKey

    /// did:plc of 24 characters made of `name`.
    init(_ name: String, _ curve: Curve = .k256) throws {
        did = "did:plc:" + String((name + String(repeating: "a", count: 24)).prefix(24))
        key = try PrivateKey.generate(curve)
    }

    /// A token as an account's server makes it. What is nil is left out.
    func token(
        _ method: String?, aud: String? = "did:web:push.test", exp: Int64? = nil, iss: String? = nil,
        jti: String? = UUID().uuidString,
        header: String? = nil, extra: String = "", signedBy signer: PrivateKey? = nil
    ) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        var claims = "{\"iss\":\"\(iss ?? did)\",\"exp\":\(exp ?? now + 60)"
        for (name, value) in [("aud", aud), ("lxm", method), ("jti", jti)] {
            if let value { claims += ",\"\(name)\":\"\(value)\"" }
        }
        claims += extra + "}"
        let signer = signer ?? key
        let header = header ?? "{\"typ\":\"JWT\",\"alg\":\"\(signer.curve.algorithm)\"}"
        return try JSONWebToken(header: [UInt8](header.utf8), claims: [UInt8](claims.utf8), signedBy: signer).text
    }
}

/// A push server with its database and directory.
final class PushStage: Sendable {
    static let did = "did:web:push.test"

    let directory: TestDirectory
    let database: Database
    let server: PushServer
    private let folder: ScratchFolder

    init(_ change: (inout PushServer.Options) -> Void = { _ in }) throws {
        folder = try ScratchFolder()
        directory = try TestDirectory()
        database = try Database(path: folder.path + "/hark.db")
        var options = PushServer.Options(did: try DID(Self.did))
        options.listen = "127.0.0.1:0"
        options.identity.directory = directory.url
        options.limits.requestsPerSecond = 0
        change(&options)
        server = try PushServer(options, database: database, emit: .silent)
    }

    /// An account that the directory knows.
    func account(_ name: String, _ curve: Curve = .k256) throws -> Account {
        let account = try Account(name, curve)
        directory.put(account.did, key: account.key.publicKey)
        return account
    }

    func stop() async {
        await server.stop()
        await directory.stop()
        database.close()
    }

    /// Calls a method with a fresh token of `account`, or with the given one.
    func call(_ nsid: String, _ account: Account? = nil, token: String? = nil, _ body: String? = nil) async throws
        -> WireAnswer
    {
        let token = try token ?? account?.token(nsid)
        let authorization = token.map { "Bearer \($0)" }
        var headers: KeyValuePairs<String, String> = [:]
        switch (authorization, body) {
        case (let authorization?, _?): headers = ["Authorization": authorization, "Content-Type": "application/json"]
        case (nil, _?): headers = ["Content-Type": "application/json"]
        case (let authorization?, nil): headers = ["Authorization": authorization]
        case (nil, nil): break
        }
        return try await WireClient.ask(
            server.port, body == nil ? "GET" : "POST", "/xrpc/\(nsid)", headers: headers,
            body: body.map { [UInt8]($0.utf8) })
    }

    func tokens(of account: Account? = nil) throws -> [PushToken] {
        try database.read { try $0.tokens(did: account?.did) }
    }
}

let appleToken = String(repeating: "0123456789abcdef", count: 4)
