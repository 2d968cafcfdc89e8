import ATProto
import Crypto
import Simulators
import TestSupport
import Testing

@Suite(.fewAtATime) struct SimulatePLCCommandTests {
    /// Signed by a process that serves nothing, for the directory that another process is.
    @Test(arguments: PLCIdentity.oddities(seed: GrainEvening.shipped.seed).prefix(4).map(\.did))
    func printsATokenOfAnAccount(did: String) async throws {
        let words = ["simulate", "plc", "--token", did, "--aud", "did:web:push.test", "--lxm", "a.b.c"]
        let result = try await HarkProcess().run(words)
        #expect(result.status == 0, "\(result.errors)")
        let token = try JSONWebToken(String(result.output.dropLast()))
        let identity = PLCIdentity.oddities(seed: GrainEvening.shipped.seed).first { $0.did == did }
        #expect(token.isSigned(by: try #require(identity?.key)))
        #expect(try JSON.decode(token.claims)["lxm"] == .string("a.b.c"))
    }

    @Test(arguments: [
        ["--fault", "nonsense"], ["--port", "70000"], ["--seed", "x"], ["--aud", "did:web:push.test"],
        ["--token", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "--aud", "a", "--lxm", "b"],
        ["--token", GrainEvening.shipped.people[0].did], ["surplus"],
        ["--token", GrainEvening.shipped.people[0].did, "--aud", "a", "--lxm", "b", "--exp", "soon"],
    ])
    func refuses(_ words: [String]) async throws {
        let result = try await HarkProcess().run(["simulate", "plc"] + words)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }
}
