import TestSupport
import Testing

@testable import Simulators

@Suite(.fewAtATime) struct APNsSimulatorFaultsTests {
    @Test func readsFlags() throws {
        var faults = Faults()
        let flags = [
            ("--answer", "410:25%"), ("--answer", "ServiceUnavailable"), ("--every", "7"), ("--first", "2"),
            ("--answer", "refuse:nth=3:token=ABCD"), ("--answer", "502"), ("--delay", "20ms..80ms"),
            ("--goaway-after", "100:2"), ("--retry-after", "30"), ("--error-body", "html"),
            ("--streams", "1000,0@300,1@300+200ms"), ("--seed", "42"),
        ]
        for (flag, value) in flags {
            let isTaken = try faults.set(flag, value)
            #expect(isTaken)
        }
        #expect(
            faults.rules == [
                .init(.answer(.unregistered), when: [.percent(25)]),
                .init(.answer(.serviceUnavailable), when: [.every(7), .first(2)]),
                .init(.refuse, when: [.nth(3), .token("abcd")]),
                .init(.status(502)),
            ])
        #expect(faults.delay == .milliseconds(20)...(.milliseconds(80)))
        #expect(faults.goAway == .init(afterRequests: 100, errorCode: 2))
        #expect(faults.retryAfterSeconds == 30)
        #expect(faults.errorBody == .html)
        #expect(
            faults.streams == [
                .init(1000), .init(0, afterRequests: 300), .init(1, afterRequests: 300, delay: .milliseconds(200)),
            ])
        #expect(faults.seed == 42)
    }

    @Test func leavesOtherFlagsAlone() throws {
        var faults = Faults()
        let isTaken = try faults.set("--port", "8443")
        #expect(!isTaken)
        #expect(faults == Faults())
    }

    @Test(arguments: Faults.flags) func takesEveryFlagOfItsUsage(_ flag: Faults.Flag) throws {
        let samples = [
            "--answer": "410", "--delay": "1s", "--error-body": "split", "--handshake": "silent", "--windows": "shut",
            "--streams": "5", "--token": "ab",
        ]
        var faults = Faults()
        _ = try faults.set("--answer", "reset")
        let isTaken = try faults.set(flag.name, samples[flag.name] ?? "3")
        #expect(isTaken)
        #expect(faults != Faults())
    }

    @Test(arguments: [
        ("--answer", ""), ("--answer", "200"), ("--answer", "999"), ("--answer", "410:"), ("--answer", "410:101%"),
        ("--answer", "410:-1%"), ("--answer", "410:nan%"), ("--answer", "badDeviceToken"), ("--answer", "410:every=0"),
        ("--answer", "410:every"), ("--answer", "410:token="), ("--every", "7"), ("--delay", ""), ("--delay", "50"),
        ("--delay", "50 ms"), ("--delay", "-5ms"), ("--delay", "80ms..20ms"), ("--delay", "99999999999999999999ms"),
        ("--goaway-after", "0"), ("--goaway-after", "x"), ("--goaway-after", "5:"), ("--goaway-after", "5:-1"),
        ("--retry-after", "-1"), ("--error-body", "xml"),
        ("--handshake", "loud"), ("--windows", ""),
        ("--streams", ""), ("--streams", "x"), ("--streams", "1@"), ("--streams", "1@0"), ("--streams", "1+"),
        ("--seed", "-1"),
    ])
    func refuses(flag: String, value: String) {
        var faults = Faults()
        let error = #expect(throws: FaultSyntaxError.self) { _ = try faults.set(flag, value) }
        #expect(error?.description.hasPrefix("\(flag) \(value): ") == true)
        #expect(error?.description.contains("\n") == false)
    }

    @Test func namesTheConditions() {
        var faults = Faults()
        let error = #expect(throws: FaultSyntaxError.self) { _ = try faults.set("--answer", "429:0.5") }
        #expect(error?.description.contains("25%, every=N, first=N, after=N, nth=N or token=SUFFIX") == true)
    }

    private func subject(
        token: String = "aa", payload: String = "{}", attempt: Int = 1, number: Int = 1
    ) -> FaultPlan.Subject {
        FaultPlan.Subject(token: token, payload: Array(payload.utf8), attempt: attempt, number: number)
    }

    private func plan(_ rules: String..., seed: UInt64 = 1) throws -> FaultPlan {
        var faults = Faults()
        faults.rules = try rules.map { try Faults.Rule($0) }
        faults.seed = seed
        return FaultPlan(faults: faults)
    }

    @Test func countsRequestsAndTries() throws {
        let every = try plan("503:every=3")
        #expect((1...9).filter { every.effect(on: subject(number: $0)) != nil } == [3, 6, 9])
        let first = try plan("503:first=2")
        #expect((1...4).filter { first.effect(on: subject(attempt: $0)) != nil } == [1, 2])
        let after = try plan("reset:after=2")
        #expect((1...4).filter { after.effect(on: subject(number: $0)) != nil } == [3, 4])
        let nth = try plan("silent:nth=2")
        #expect((1...4).filter { nth.effect(on: subject(number: $0)) != nil } == [2])
        let token = try plan("410:token=FF01")
        #expect(token.effect(on: subject(token: "aaff01")) == .answer(.unregistered))
        #expect(token.effect(on: subject(token: "aaff02")) == nil)
    }

    @Test func firstRuleWins() throws {
        let plan = try plan("503:every=2", "429:every=3")
        #expect(plan.effect(on: subject(number: 6)) == .answer(.serviceUnavailable))
        #expect(plan.effect(on: subject(number: 3)) == .answer(.tooManyRequests))
        #expect(plan.effect(on: subject(number: 1)) == nil)
    }

    @Test func drawsAShareOfTokensOnceAndForAll() throws {
        let plan = try plan("410:25%")
        let tokens = (0..<4000).map { String($0, radix: 16) }
        let dead = tokens.filter { plan.effect(on: subject(token: $0)) != nil }
        #expect(900...1100 ~= dead.count)
        #expect(tokens.filter { plan.effect(on: subject(token: $0, payload: "[]", attempt: 7)) != nil } == dead)
        let other = try self.plan("410:25%", seed: 2)
        #expect(tokens.filter { other.effect(on: subject(token: $0)) != nil } != dead)
    }

    @Test func drawsAShareOfTries() throws {
        let plan = try plan("503:50%")
        let tries = (1...2000).filter { plan.effect(on: subject(attempt: $0)) != nil }
        #expect(900...1100 ~= tries.count)
        #expect(try self.plan("503:0%").effect(on: subject()) == nil)
        #expect(try self.plan("503:100%").effect(on: subject()) != nil)
    }

    @Test func drawsDelaysWithinBounds() throws {
        var faults = Faults()
        faults.delay = .milliseconds(20)...(.milliseconds(80))
        let plan = FaultPlan(faults: faults)
        let delays = (1...500).map { plan.delay(of: subject(attempt: $0)) }
        #expect(delays.allSatisfy { .milliseconds(20)...(.milliseconds(80)) ~= $0 })
        #expect(Set(delays).count > 400)
        #expect(delays == (1...500).map { plan.delay(of: subject(attempt: $0)) })
    }

    @Test func remembersIDsInBoundedMemory() {
        var ids = RecentIDs(generationSize: 2)
        let tries = ["a", "a", "b", "c", "a", "d", "e", "f", "g", "a"].map { ids.noteAttempt($0) }
        #expect(tries == [1, 2, 1, 1, 3, 1, 1, 1, 1, 1])
        let accepted = ["x", "x", "y"].map { ids.noteAccepted($0) }
        #expect(accepted == [false, true, false])
    }
}
