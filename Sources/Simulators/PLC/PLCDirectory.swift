import ATProto
import Crypto
import Synchronization
import XRPC

/// What the directory lists, and how it answers.
final class PLCDirectory: Sendable {
    struct State: Sendable {
        var identities: [String: PLCIdentity]
        var faults: [PLCFault.Rule]
        /// By DID.
        var requests: [String: Int] = [:]
    }

    let state: Mutex<State>

    /// Longer than any client waits.
    static let forever: Duration = .seconds(86_400)

    init(_ options: PLCSimulator.Options) {
        let byDID = options.identities.map { ($0.did, $0) }
        state = Mutex(State(identities: Dictionary(byDID) { $1 }, faults: options.faults))
    }

    func rotateKey(of did: String) throws(KeyError) -> Bool {
        guard let curve = state.withLock({ $0.identities[did]?.key.curve }) else { return false }
        let key = try PrivateKey.generate(curve)
        state.withLock { state in
            state.identities[did]?.key = key.publicKey
            state.identities[did]?.privateKey = key
        }
        return true
    }

    func reply(to request: HTTPRequest) -> HTTPReply {
        let path = request.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        if path.first == "_simulate" { return .now(control(request, path.dropFirst().map(String.init))) }
        guard request.verb == "GET" || request.verb == "HEAD" else {
            return .now(Self.message(405, "the stand-in takes no operations"))
        }
        switch path.first {
        case "": return .now(Self.text("A stand-in for the PLC directory: every account here is invented.\n"))
        case "_health": return .now(Self.json(.object(["version": .string("0.0.0")])))
        case let name? where path.count == 1: return document(Self.did(name))
        case let name? where path.count == 2 && path[1] == "data":
            return .now(lookUp(Self.did(name)) { Self.json($0.data) })
        default: return .now(Self.message(404, "Not Found"))
        }
    }

    /// Clients may write the colons of a DID as escapes.
    private static func did(_ name: Substring) -> String {
        String(name.replacing("%3A", with: ":").replacing("%3a", with: ":"))
    }

    // MARK: Documents

    private func document(_ did: String) -> HTTPReply {
        let fault = state.withLock { state in
            state.requests[did, default: 0] += 1
            return state.faults.first { $0.did == nil || $0.did == did }?.fault
        }
        let answer = lookUp(did) { Self.document($0.document) }
        switch fault {
        case nil: return .now(answer)
        case .slow(let delay): return Self.late(answer, after: delay)
        case .dead: return Self.late(answer, after: Self.forever)
        case .status(let status): return .now(Self.message(status, "played by the stand-in"))
        case .wrongDID:
            let other = state.withLock { $0.identities.values.filter { $0.did != did }.min { $0.did < $1.did } }
            return .now(other.map { Self.document($0.document) } ?? answer)
        case .garbage:
            return .now(HTTPResponse(contentType: Self.documentType, body: [UInt8]("<html>no document</html>".utf8)))
        case .huge:
            let filler = Value.string(String(repeating: "x", count: 1 << 20))
            return .now(Self.document(.object(["id": .string(did), "filler": filler])))
        case .redirect(let url): return .now(HTTPResponse(status: 302, headers: [("Location", url)]))
        }
    }

    private func lookUp(_ did: String, _ answer: (PLCIdentity) -> HTTPResponse) -> HTTPResponse {
        guard let identity = state.withLock({ $0.identities[did] }) else {
            return Self.message(404, "DID not registered: \(did)")
        }
        return identity.isTombstoned ? Self.message(410, "DID not available: \(did)") : answer(identity)
    }

    private static func late(_ answer: HTTPResponse, after delay: Duration) -> HTTPReply {
        .later {
            try? await Task.sleep(for: delay)
            return answer
        }
    }

    // MARK: Answers

    private static let documentType = "application/did+ld+json; charset=utf-8"

    private static func document(_ value: Value) -> HTTPResponse {
        HTTPResponse(contentType: documentType, body: JSON.encode(value))
    }

    static func json(_ value: Value) -> HTTPResponse {
        HTTPResponse(contentType: "application/json; charset=utf-8", body: JSON.encode(value))
    }

    static func text(_ text: String) -> HTTPResponse {
        HTTPResponse(contentType: "text/plain; charset=utf-8", body: [UInt8](text.utf8))
    }

    static func message(_ status: Int, _ message: String) -> HTTPResponse {
        var response = json(.object(["message": .string(message)]))
        response.status = status
        return response
    }
}
