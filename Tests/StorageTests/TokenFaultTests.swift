import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000
private let ada = "did:plc:ada"

@Suite struct TokenFaultTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
    }

    private func register(_ token: String = "one", at time: Int64 = now) throws {
        try database.register(ada, token, at: time)
    }

    /// Queues one push for every device and ends them all alike.
    private func push(_ number: Int, _ outcome: PushSettlement.Outcome, fault: Bool, of token: String? = nil) throws {
        let entry = OutboxEntry(
            did: ada, hook: "hook", uri: "at://x/a.b.c/\(number)", rev: "r", place: 0, payload: Array("{}".utf8),
            collapseID: nil, priority: 10, pushType: "alert", expiresAt: now + 100_000)
        try database.writeBlocking { transaction in
            _ = try transaction.finish(job: 1, notifications: [entry], now: now)
            let rows = try transaction.claimPushes(limit: 100, now: now, leaseUntil: now + 100).pushes
            let ends = rows.map { row in
                var end = PushSettlement(id: row.id, tokenID: row.device.id, outcome: outcome, error: "TheirWord")
                if fault, token == nil || token == row.device.token { end.tokenFault = row.device.registeredAt }
                return end
            }
            try transaction.settle(ends, now: now + Int64(number))
        }
    }

    private func failures() throws -> [String: String?] {
        let tokens = try database.read { try $0.tokens(did: ada) }
        #expect(tokens.allSatisfy { ($0.failedAt == nil) == ($0.failure == nil) })
        return Dictionary(uniqueKeysWithValues: tokens.map { ($0.token, $0.failure) })
    }

    @Test func aFaultStaysUntilAPushArrives() throws {
        try register("one")
        try register("two")
        try push(1, .dead, fault: true, of: "one")
        #expect(try failures() == ["one": "TheirWord", "two": nil])
        let listed = try database.read { try $0.devices(didPrefix: ada, limit: 9) }
        #expect(listed.map(\.failure) == ["TheirWord", nil])
        #expect(try database.read { try $0.tokens(did: ada) }.first?.failedAt == "2023-11-14T22:13:20.001Z")
        try push(2, .dead, fault: false)
        #expect(try failures() == ["one": "TheirWord", "two": nil])
        try push(3, .sent, fault: false)
        #expect(try failures() == ["one": nil, "two": nil])
    }

    @Test func registeringAgainTakesItAway() throws {
        try register()
        try push(1, .dead, fault: true)
        try register(at: now + 1)
        #expect(try failures() == ["one": nil])
    }

    @Test func anAnswerFromBeforeTheRegistrationSaysNothing() throws {
        try register()
        let id = try #require(try database.read { try $0.tokens(did: ada) }.first?.id)
        try register(at: now + 1)
        try database.writeBlocking { transaction in
            var end = PushSettlement(id: 1, tokenID: id, outcome: .dead, error: "TheirWord")
            end.tokenFault = now
            try transaction.settle([end], now: now + 2)
        }
        #expect(try failures() == ["one": nil])
    }
}
