import ATProto
import Crypto
import Synchronization
import XRPC

/// What only a stand-in has, under `/_simulate/`: a list of its accounts, tokens in their names, and changes to them.
///
/// | request | does |
/// |---|---|
/// | `GET identities` | lists DID, handle, curve, form of the key, whether it was given up |
/// | `GET token?did=…&aud=…&lxm=…[&exp=SECONDS]` | signs a service token, as text |
/// | `POST account?did=…&key=did:key:…` | lists an account whose private key is the caller's |
/// | `POST rotate?did=…` | gives the account another key |
/// | `POST tombstone?did=…` | gives the account up |
extension PLCDirectory {
    private static let verbs = [
        "identities": "GET", "token": "GET", "account": "POST", "rotate": "POST", "tombstone": "POST",
    ]

    func control(_ request: HTTPRequest, _ path: [String]) -> HTTPResponse {
        guard path.count == 1, let verb = Self.verbs[path[0]] else {
            let names = Self.verbs.keys.sorted().joined(separator: ", ")
            return Self.message(404, "under /_simulate/ there are: \(names)")
        }
        guard request.verb == verb else { return Self.message(405, "\(verb) expected") }
        if path[0] == "identities" { return listing }
        guard let did = request.parameter("did"), DID.isValid(did) else { return Self.message(400, "did is missing") }
        if path[0] == "account" { return list(did, request) }
        guard let identity = state.withLock({ $0.identities[did] }) else {
            return Self.message(404, "DID not registered: \(did)")
        }
        switch path[0] {
        case "token": return token(of: identity, request)
        case "rotate":
            guard (try? rotateKey(of: did)) == true else { return Self.message(500, "no key could be made") }
        default: state.withLock { $0.identities[did]?.isTombstoned = true }
        }
        return Self.json(.object([:]))
    }

    private func list(_ did: String, _ request: HTTPRequest) -> HTTPResponse {
        guard let text = request.parameter("key"), let key = try? PublicKey(didKey: text) else {
            return Self.message(400, "key must be a did:key of P-256 or secp256k1")
        }
        let identity = PLCIdentity(did: did, handle: request.parameter("handle") ?? "guest.example.com", key: key)
        state.withLock { $0.identities[did] = identity }
        return Self.json(.object([:]))
    }

    private var listing: HTTPResponse {
        let identities = state.withLock { $0.identities.values.sorted { $0.handle < $1.handle } }
        let entries = identities.map { identity in
            Value.object([
                "did": .string(identity.did), "handle": .string(identity.handle),
                "algorithm": .string(identity.algorithm), "keyForm": .string(identity.keyForm.rawValue),
                "tombstoned": .bool(identity.isTombstoned),
            ])
        }
        return Self.json(.object(["identities": .array(entries)]))
    }

    private func token(of identity: PLCIdentity, _ request: HTTPRequest) -> HTTPResponse {
        guard let audience = request.parameter("aud"), let method = request.parameter("lxm") else {
            return Self.message(400, "aud and lxm are needed")
        }
        let lifetime = request.parameter("exp") ?? "60"
        guard let seconds = Int64(lifetime), abs(seconds) < 1 << 32 else {
            return Self.message(400, "exp must be a number of seconds from now")
        }
        let claims = PLCIdentity.Claims(audience: audience, method: method, lifetime: seconds)
        guard let token = try? identity.serviceToken(claims) else {
            return Self.message(400, "the private key of \(identity.did) is not here")
        }
        return Self.text(token)
    }
}
