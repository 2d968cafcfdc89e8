import Synchronization

@testable import XRPC

/// A desk that says what it was asked.
final class TestDesk: AdminDesk {
    private let asked = Mutex<[String]>([])

    var calls: [String] { asked.withLock { $0 } }

    private func note(_ call: String) -> [UInt8] {
        asked.withLock { $0.append(call) }
        return Array(#"{"done":1}"#.utf8)
    }

    func overview() async throws -> [UInt8] { note("overview") }
    func deadLetters(before id: Int64?) async throws -> [UInt8] { note("dead before \(id ?? 0)") }
    func devices(did: String, after place: String?) async throws -> [UInt8] { note("devices \(did) \(place ?? "")") }
    func retry(_ selection: AdminSelection) async throws -> [UInt8] { note("retry \(selection)") }
    func drop(_ selection: AdminSelection) async throws -> [UInt8] { note("drop \(selection)") }

    func explanation(of uri: String) async throws -> [UInt8] {
        if uri == "broken" { throw WireError(description: "secret") }
        return note("explain \(uri)")
    }
}

/// A server with the operator's page.
struct AdminStage {
    static let token = "correct-horse-battery"
    static let origin = "http://localhost"

    let desk = TestDesk()
    let push: PushStage

    init(_ change: (inout PushServer.Options) -> Void = { _ in }) throws {
        let options = AdminSite.Options(token: try AdminToken(Self.token), desk: desk)
        push = try PushStage {
            $0.admin = options
            change(&$0)
        }
    }

    func ask(
        _ verb: String, _ path: String, _ headers: KeyValuePairs<String, String> = [:], body: String? = nil
    ) async throws -> WireAnswer {
        try await WireClient.ask(
            push.server.port, verb, "/_admin" + path, headers: headers, body: body.map { [UInt8]($0.utf8) })
    }

    func signIn(
        _ token: String = token, _ headers: KeyValuePairs<String, String> = ["Origin": origin]
    ) async throws -> WireAnswer {
        try await ask("POST", "/sign-in", headers, body: "token=\(token)")
    }

    /// The cookie of a new session, as a browser sends it back.
    func session() async throws -> String {
        String(try await signIn().headers["set-cookie", default: ""].prefix { $0 != ";" })
    }

    func stop() async { await push.stop() }
}
