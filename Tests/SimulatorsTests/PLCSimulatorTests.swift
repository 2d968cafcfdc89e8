import ATProto
import Crypto
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import Simulators

/// The stand-in for the PLC directory, over HTTP.
@Suite(.fewAtATime) struct PLCSimulatorTests {
    private struct Answer {
        var status: Int
        var type: String
        var body: [UInt8]
        var json: Value? { try? JSON.decode(body, as: .plain) }
    }

    private func ask(_ simulator: PLCSimulator, _ path: String, verb: String = "GET") async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: "\(simulator.url)/\(path)")))
        request.httpMethod = verb
        let (data, response) = try await URLSession.shared.data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        return Answer(
            status: answer.statusCode, type: answer.value(forHTTPHeaderField: "Content-Type") ?? "", body: [UInt8](data)
        )
    }

    private func simulator(_ faults: [PLCFault.Rule] = []) throws -> PLCSimulator {
        var options = PLCSimulator.Options(
            identities: PLCIdentity.oddities(seed: 7) + PLCIdentity.people(of: GrainEvening(seed: 7, events: 100)))
        options.faults = faults
        return try PLCSimulator(options)
    }

    @Test func documentsAreThoseOfADirectory() async throws {
        let simulator = try simulator()
        #expect(simulator.identities.count == 14)
        for identity in simulator.identities where !identity.isTombstoned {
            let answer = try await ask(simulator, identity.did)
            #expect(answer.status == 200)
            #expect(answer.type == "application/did+ld+json; charset=utf-8")
            let document = try DIDDocument(json: answer.body, did: try DID(identity.did))
            #expect(document.signingKey == (identity.keyForm == .absent ? nil : identity.key), "\(identity.handle)")
            #expect(document.handle?.description == identity.handle)
            #expect(document.pds == identity.pds)
            let contexts = answer.json?["@context"]?.array
            #expect(contexts?.first == .string("https://www.w3.org/ns/did/v1"))
            // Clients may escape the colons.
            let escaped = try await ask(simulator, identity.did.replacing(":", with: "%3A"))
            #expect(escaped.body == answer.body)
        }
        await simulator.stop()
    }

    @Test func bothCurvesInBothForms() {
        let methods = PLCIdentity.oddities(seed: 7).map {
            $0.document["verificationMethod"]?.array?.first?["type"]?.string ?? ""
        }
        #expect(
            methods == [
                "Multikey", "Multikey", "EcdsaSecp256r1VerificationKey2019", "EcdsaSecp256k1VerificationKey2019", "",
                "Multikey",
            ])
    }

    @Test func refusalsAreThoseOfADirectory() async throws {
        let simulator = try simulator()
        let unknown = try await ask(simulator, "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")
        #expect(unknown.status == 404)
        #expect(unknown.type == "application/json; charset=utf-8")
        #expect(unknown.json?["message"] == .string("DID not registered: did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"))
        let gone = try #require(simulator.identities.first { $0.isTombstoned })
        let tombstone = try await ask(simulator, gone.did)
        #expect(tombstone.status == 410)
        #expect(tombstone.json?["message"] == .string("DID not available: \(gone.did)"))
        #expect(try await ask(simulator, gone.did + "/data").status == 410)
        let health = try await ask(simulator, "_health")
        #expect(health.status == 200)
        #expect(health.json?["version"]?.string != nil)
        #expect(try await ask(simulator, "").status == 200)
        #expect(try await ask(simulator, gone.did, verb: "POST").status == 405)
        await simulator.stop()
    }

    @Test func dataNamesTheKey() async throws {
        let simulator = try simulator()
        let identity = simulator.identities[0]
        let data = try await ask(simulator, identity.did + "/data").json
        #expect(data?["did"] == .string(identity.did))
        #expect(data?["verificationMethods"]?["atproto"] == .string(identity.key.didKey))
        await simulator.stop()
    }

    @Test func signsInTheNameOfItsAccounts() async throws {
        let simulator = try simulator()
        let identities = try #require(try await ask(simulator, "_simulate/identities").json?["identities"]?.array)
        #expect(identities.count == 14)
        for identity in identities {
            let did = try #require(identity["did"]?.string)
            let answer = try await ask(
                simulator, "_simulate/token?did=\(did)&aud=did%3Aweb%3Apush.test%23hark&lxm=a.b.c&exp=120")
            #expect(answer.status == 200)
            let token = try JSONWebToken(String(decoding: answer.body, as: UTF8.self))
            #expect(token.isSigned(by: try #require(simulator.identity(did)?.key), requireLowS: true))
            let (header, claims) = (try JSON.decode(token.header), try JSON.decode(token.claims))
            #expect(header["alg"] == identity["algorithm"])
            #expect(claims["iss"] == .string(did))
            #expect(claims["aud"] == .string("did:web:push.test#hark"))
            #expect(claims["lxm"] == .string("a.b.c"))
            #expect((claims["exp"]?.integer ?? 0) - (claims["iat"]?.integer ?? 0) == 120)
        }
        #expect(try await ask(simulator, "_simulate/token?did=did:plc:x&aud=a&lxm=b").status == 404)
        #expect(try await ask(simulator, "_simulate/token").status == 400)
        #expect(try await ask(simulator, "_simulate/nothing").status == 404)
        #expect(try await ask(simulator, "_simulate/rotate?did=x").status == 405)
        await simulator.stop()
    }

    @Test func accountsChange() async throws {
        let simulator = try simulator()
        let old = simulator.identities[0]
        #expect(try await ask(simulator, "_simulate/rotate?did=\(old.did)", verb: "POST").status == 200)
        let document = try DIDDocument(json: try await ask(simulator, old.did).body, did: try DID(old.did))
        #expect(document.signingKey != old.key)
        #expect(document.signingKey?.curve == old.key.curve)
        #expect(try await ask(simulator, "_simulate/tombstone?did=\(old.did)", verb: "POST").status == 200)
        #expect(try await ask(simulator, old.did).status == 410)

        let (guest, key) = ("did:plc:bbbbbbbbbbbbbbbbbbbbbbbb", try PrivateKey.generate(.p256).publicKey)
        let path = "_simulate/account?did=\(guest)&key="
        #expect(try await ask(simulator, path + "did:key:zzz", verb: "POST").status == 400)
        #expect(try await ask(simulator, path + key.didKey, verb: "POST").status == 200)
        let listed = try DIDDocument(json: try await ask(simulator, guest).body, did: try DID(guest))
        #expect(listed.signingKey == key)
        #expect(try await ask(simulator, "_simulate/token?did=\(guest)&aud=a&lxm=b").status == 400)
        await simulator.stop()
    }

    @Test func faultsArePlayed() async throws {
        let simulator = try simulator()
        let (ada, bob) = (simulator.identities[0].did, simulator.identities[1].did)
        simulator.play([try .init("503@\(ada)"), try .init("wrong-did")])
        #expect(try await ask(simulator, ada).status == 503)
        #expect(try await ask(simulator, bob).json?["id"] != .string(bob))
        simulator.play([try .init("garbage")])
        #expect(try await ask(simulator, ada).json == nil)
        simulator.play([try .init("huge")])
        #expect(try await ask(simulator, ada).body.count > 1 << 20)
        simulator.play([try .init("slow=20ms")])
        #expect(try await ask(simulator, ada).status == 200)
        #expect(simulator.requests(for: ada) == 4)
        #expect(simulator.requests() == 5)
        await simulator.stop()
    }

    @Test(
        arguments: [
            ("slow=2s", .init(.slow(.seconds(2)))), ("500", .init(.status(500))), ("dead", .init(.dead)),
            ("wrong-did@did:plc:a", .init(.wrongDID, did: "did:plc:a")), ("garbage", .init(.garbage)),
            ("redirect=http://a/@did:web:b@did:plc:c", .init(.redirect("http://a/"), did: "did:web:b@did:plc:c")),
        ] as [(String, PLCFault.Rule)])
    func readsFaults(text: String, rule: PLCFault.Rule) throws { #expect(try PLCFault.Rule(text) == rule) }

    @Test(arguments: [
        "", "200", "600", "slow", "slow=fast", "dead=1", "redirect=", "redirect", "unheard-of", "500@ada",
    ])
    func refusesFaults(text: String) { #expect(throws: FaultSyntaxError.self) { try PLCFault.Rule(text) } }

    @Test func everythingFollowsFromTheSeed() {
        let (first, second) = (PLCIdentity.oddities(seed: 3), PLCIdentity.oddities(seed: 3))
        #expect(first.map(\.did) == second.map(\.did))
        #expect(first.map(\.key) == second.map(\.key))
        #expect(first.map(\.did) != PLCIdentity.oddities(seed: 4).map(\.did))
        #expect(first.allSatisfy { DID.isValid($0.did) })
    }
}
