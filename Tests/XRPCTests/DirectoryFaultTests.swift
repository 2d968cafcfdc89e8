import ATProto
import Crypto
import Identity
import Simulators
import TestSupport
import Testing

@testable import XRPC

/// A directory that does wrong costs the request that needs it, and nobody else.
@Suite(.fewAtATime) struct DirectoryFaultTests {
    private static let method = "social.hatk.push.listDevices"

    /// A server that looks accounts up in a stand-in for the directory.
    private struct Stage {
        let directory: PLCSimulator
        let push: PushStage
        let people = PLCIdentity.people(of: .shipped)

        init(timeout: Duration = .seconds(30)) throws {
            let directory = try PLCSimulator(
                .init(identities: PLCIdentity.oddities(seed: 1) + PLCIdentity.people(of: .shipped)))
            self.directory = directory
            push = try PushStage {
                $0.identity.directory = directory.url
                $0.identity.timeout = timeout
            }
        }

        func ask(_ identity: PLCIdentity) async throws -> String {
            let claims = PLCIdentity.Claims(audience: PushStage.did, method: method)
            let answer = try await push.call(method, token: try identity.serviceToken(claims))
            return "\(answer.status) \(answer.error ?? "-")"
        }

        func stop() async {
            await push.stop()
            await directory.stop()
        }
    }

    @Test(
        arguments: [
            (.status(500), "502 UpstreamFailure"), (.status(429), "502 UpstreamFailure"),
            (.status(404), "401 InvalidToken"), (.status(410), "401 InvalidToken"),
            (.garbage, "502 UpstreamFailure"), (.huge, "502 UpstreamFailure"), (.wrongDID, "502 UpstreamFailure"),
            (.dead, "504 UpstreamTimeout"), (.slow(.seconds(3600)), "504 UpstreamTimeout"),
            (.slow(.milliseconds(50)), "200 -"),
        ] as [(PLCFault, String)])
    func costsThatRequestAlone(fault: PLCFault, expected: String) async throws {
        let stage = try Stage(timeout: .seconds(3))
        let (ada, others) = (stage.people[0], stage.people.dropFirst().prefix(5))
        stage.directory.play([.init(fault, did: ada.did)])
        async let answer = stage.ask(ada)
        // Answered meanwhile, though nobody remembers them yet.
        for other in others { #expect(try await stage.ask(other) == "200 -") }
        #expect(try await answer == expected)
        // Not a word of it is remembered once the directory has come to its senses.
        if !expected.hasPrefix("401") {
            stage.directory.play([])
            #expect(try await stage.ask(ada) == "200 -")
        }
        await stage.stop()
    }

    @Test func redirectsAreNotFollowed() async throws {
        let stage = try Stage()
        let ada = stage.people[0]
        let elsewhere = try PLCSimulator(.init(identities: [ada]))
        stage.directory.play([.init(.redirect("\(elsewhere.url)/\(ada.did)"))])
        #expect(try await stage.ask(ada) == "502 UpstreamFailure")
        #expect(elsewhere.requests() == 0)
        await elsewhere.stop()
        await stage.stop()
    }

    @Test func aDirectoryThatIsNotThere() async throws {
        let stage = try Stage()
        #expect(try await stage.ask(stage.people[0]) == "200 -")
        await stage.directory.stop()
        #expect(try await stage.ask(stage.people[1]) == "502 UpstreamFailure")
        // Who is remembered needs no directory.
        #expect(try await stage.ask(stage.people[0]) == "200 -")
        await stage.push.stop()
    }

    @Test func manyWaitForOneFetch() async throws {
        let stage = try Stage()
        let ada = stage.people[0]
        stage.directory.play([.init(.slow(.milliseconds(300)))])
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await stage.ask(ada) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [String](repeating: "200 -", count: 50))
        #expect(stage.directory.requests(for: ada.did) == 1)
        await stage.stop()
    }

    @Test(arguments: 0..<4) func everyFormOfKey(index: Int) async throws {
        let stage = try Stage()
        let identity = PLCIdentity.oddities(seed: 1)[index]
        #expect(try await stage.ask(identity) == "200 -", "\(identity.handle)")
        await stage.stop()
    }

    @Test(arguments: ["keyless.example.com", "tombstoned.example.com"]) func noKeyNoEntry(handle: String) async throws {
        let stage = try Stage()
        let identity = try #require(stage.directory.identities.first { $0.handle == handle })
        #expect(try await stage.ask(identity) == "401 InvalidToken")
        await stage.stop()
    }

    @Test func aChangedKeyCostsOneFetchMore() async throws {
        let stage = try Stage()
        let old = stage.people[0]
        #expect(try await stage.ask(old) == "200 -")
        #expect(try await stage.ask(old) == "200 -")
        #expect(stage.directory.requests(for: old.did) == 1)
        try stage.directory.rotateKey(of: old.did)
        let new = try #require(stage.directory.identity(old.did))
        #expect(try await stage.ask(new) == "200 -")
        #expect(stage.directory.requests(for: old.did) == 2)
        #expect(try await stage.ask(new) == "200 -")
        #expect(stage.directory.requests(for: old.did) == 2)
        // The old key opens nothing any more; looking for a newer one is bounded, whatever strangers send.
        for _ in 0..<20 { #expect(try await stage.ask(old) == "401 InvalidToken") }
        #expect(stage.directory.requests(for: old.did) <= 8)
        await stage.stop()
    }

    /// While the directory is down, a remembered document is better than none, and a wrong key no way in.
    @Test func aStrangerGetsNothingFromADeadDirectory() async throws {
        let stage = try Stage()
        let ada = stage.people[0]
        #expect(try await stage.ask(ada) == "200 -")
        stage.directory.play([.init(.status(503))])
        let stranger = PLCIdentity(did: ada.did, handle: ada.handle, privateKey: try .generate(.k256))
        #expect(try await stage.ask(stranger) == "401 InvalidToken")
        #expect(try await stage.ask(ada) == "200 -")
        await stage.stop()
    }
}
