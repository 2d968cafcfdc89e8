import Net
import TestSupport
import Testing

@testable import Push

/// Deliveries to gateways that nobody here wrote, and that misbehave in every way: each notification ends in one
/// recorded outcome, and each device gets each once, as far as HTTP/2 lets that be known.
@Suite(.fewAtATime, .timeLimit(.minutes(5)))
struct ForeignServerTests {
    /// How much can be known of what becomes of a request.
    enum Knowledge: Sendable {
        /// All: nothing is delivered twice, and nothing counts as an attempt.
        case all
        /// All, though some is answered otherwise than with 200.
        case answers
        /// A request may have been processed whose answer never came.
        case some
        /// Answers may be lost after the server has written them.
        case little
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var fault: String
        var knowledge: Knowledge
        var testDescription: String { fault }
        init(_ fault: String, _ knowledge: Knowledge) { (self.fault, self.knowledge) = (fault, knowledge) }
    }

    static let python = [
        Case("Well", .all), Case("RefusesStreams", .all), Case("GoesAwayMidBurst", .all),
        Case("GoesAwayWithAnError", .all), Case("WarnsBeforeItGoes", .all), Case("NeverFinishesTLS", .all),
        Case("IsHalfOpen", .little), Case("NeverAnswersSome", .some), Case("ResetsTheSocket", .little),
        Case("NeverOpensAWindow", .little), Case("ChangesTheLimit", .all), Case("HasOddBodies", .answers),
        Case("ExpiresAndThrottles", .answers), Case("SplitsAnswers", .answers), Case("AnswersInSteps", .all),
        Case("AnswersEarly", .all), Case("FloodsSettings", .little), Case("FloodsPings", .little),
        Case("SaysTooMuch", .some), Case("SaysTooMuchAtOnce", .little), Case("ResetsWithEveryCode", .some),
        Case("ResetsAfterTheStatus", .all),
        Case("ClosesAtOnce", .all), Case("HangsUp", .little), Case("SpeaksHTTP1", .all),
        Case("SaysNoProtocol", .all), Case("ShowsAnotherCertificate", .all), Case("BreaksTheRules", .little),
        Case("SpeaksOddly", .all), Case("Trickles", .all),
    ]

    @Test(
        .enabled("the Python package h2 cannot be installed here") { await ForeignServer.h2.python != nil },
        arguments: python)
    func outlastsAPythonServer(_ fault: Case) async throws { try await outlast(.python, fault) }

    static let node = [
        Case("Well", .all), Case("RefusesStreams", .all), Case("ResetsStreams", .some), Case("GoesAwayMidBurst", .all),
        Case("ResetsTheSocket", .little), Case("ClosesInPeace", .little), Case("NeverAnswersSome", .some),
        Case("ChangesTheLimit", .all), Case("HasOddBodies", .answers), Case("Throttles", .answers),
        Case("AnswersInSteps", .all), Case("AnswersEarly", .all), Case("SplitsAnswers", .answers),
        Case("Pings", .all), Case("FailsAtOnce", .little),
    ]

    @Test(.enabled("there is no Node here") { await ForeignServer.hasNode }, arguments: node)
    func outlastsANodeServer(_ fault: Case) async throws { try await outlast(.node, fault) }

    /// Deadlines that a fault needs to be noticed; where none is, an answer may take as long as it likes.
    private static func tuning(for fault: String) -> PushTuning {
        var tuning = PushTuning()
        tuning.resendsAfterTimeout = 20
        tuning.resendsAfterLoss = 20
        tuning.maximumAttempts = 50
        switch fault {
        case "NeverFinishesTLS": tuning.connection.handshakeTimeout = .milliseconds(700)
        case "IsHalfOpen":
            tuning.connection.pingAfterIdleRead = .milliseconds(300)
            tuning.connection.pingTimeout = .milliseconds(300)
        case "NeverAnswersSome", "NeverOpensAWindow": tuning.requestTimeout = .seconds(1)
        default: break
        }
        return tuning
    }

    private func outlast(_ kind: ForeignServer.Kind, _ fault: Case) async throws {
        let server = try await ForeignServer(kind, fault.fault)
        let bench = try Bench(server: server, tuning: Self.tuning(for: fault.fault))
        try bench.register(deviceTokens(4))
        // Long ones where a window is to be filled.
        let title = fault.fault == "NeverOpensAWindow" ? String(repeating: "x", count: 2000) : "Hello"
        try bench.send(50, title: title)
        #expect(await bench.drain() == 0)
        await bench.service.stop(deadline: .seconds(5))

        let rows = try bench.rows()
        #expect(rows.count == 200 && rows.allSatisfy { $0.state == "sent" && $0.error == nil })
        #expect(bench.service.counts.sent == 200 && bench.service.counts.failed == 0)
        #expect(try bench.tokens().count == 4)
        let fates = try server.fates()
        #expect(fates.count == 200)
        #expect(fates.values.allSatisfy { $0.answered >= 1 })
        switch fault.knowledge {
        case .all:
            #expect(rows.allSatisfy { $0.attempts == 1 })
            #expect(fates.values.allSatisfy { $0.answered == 1 && !$0.isRepeated && $0.unanswered == 0 })
        case .answers:
            #expect(fates.values.allSatisfy { $0.answered == 1 && !$0.isRepeated && $0.unanswered == 0 })
            #expect(fates.values.contains { !$0.told.isEmpty })
        case .some:
            #expect(fates.values.allSatisfy { $0.answered == 1 && !$0.isRepeated })
            #expect(fates.values.contains { $0.unanswered > 0 })
        case .little: break
        }
        if fault.fault == "ExpiresAndThrottles" { #expect(try server.tokenCount() == 2) }
    }
}
