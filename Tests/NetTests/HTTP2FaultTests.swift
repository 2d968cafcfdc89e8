import TestSupport
import Testing

@testable import Net

/// What a server may do to a client: every request ends once, with the result that HTTP/2 allows.
@Suite(.fewAtATime) struct HTTP2FaultTests {
    @Test func resendableAreTheStreamsAboveTheGoAway() async throws {
        // The 100th request of a burst brings a GOAWAY that lets the first 50 through.
        let wire = try Wire { connection, stream, _, _, number in
            if number <= 50 { connection.respond(stream: stream, status: 200, headers: [], body: []) }
            if number == 100 { connection.goAway(lastStream: 99, errorCode: 0, debug: Array("bye".utf8)) }
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let answers = await client.burst(200)
        for (index, answer) in answers.enumerated() {
            if index < 50 { #expect(answer.status == 200) } else { #expect(answer.failure == .notProcessed) }
        }
        #expect(await client.next() == .goingAway(0, "bye"))
        #expect(await client.next() == .closed(nil))
    }

    @Test func leavesNoRoomAfterGoAway() async throws {
        let held = Events<(HTTP2ServerConnection, Int32)>()
        let wire = try Wire { connection, stream, _, _, _ in held.add((connection, stream)) }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        async let answer = client.send()
        let (connection, stream) = await held.next()
        wire.serverLoop.execute { connection.goAway(lastStream: stream, errorCode: 0, debug: []) }
        #expect(await client.next() == .goingAway(0, ""))
        #expect(await client.onLoop(\.room) == 0)
        #expect(await client.send().failure == .notProcessed)
        wire.serverLoop.execute { connection.respond(stream: stream, status: 200, headers: [], body: []) }
        #expect(await answer.status == 200)
        #expect(await client.next() == .closed(nil))
    }

    @Test func reportsTheReasonOfAGoAwayWithAnError() async throws {
        let wire = try Wire { connection, _, _, _, _ in
            connection.goAway(lastStream: 0, errorCode: 11, debug: Array(#"{"reason":"BadCertificate"}"#.utf8))
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        #expect(await client.send().failure == .notProcessed)
        #expect(await client.next() == .goingAway(11, #"{"reason":"BadCertificate"}"#))
        #expect(
            await client.next()
                == .closed(#"the peer ended the connection: ENHANCE_YOUR_CALM {"reason":"BadCertificate"}"#))
    }

    @Test func tellsRefusedStreamsFromOtherResets() async throws {
        let wire = try Wire { connection, stream, _, _, number in
            connection.reset(stream: stream, errorCode: number % 2 == 1 ? 7 : 2)
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let answers = await client.burst(100)
        for (index, answer) in answers.enumerated() {
            if index % 2 == 0 {
                #expect(answer.failure == .notProcessed)
            } else {
                #expect(answer.failure == .ambiguous("the stream was reset: INTERNAL_ERROR"))
            }
        }
        #expect(await client.onLoop(\.room) == 1000)
    }

    @Test func aResetAfterTheWholeAnswerChangesNothing() async throws {
        // An answer before the request's end, as a server gives that does not want the rest.
        var options = HTTP2Server.Options()
        options.maximumBody = 10
        let wire = try Wire(options: options)
        let client = try wire.client()
        #expect(await client.next() == .opened)
        for answer in await client.burst(50, Array(repeating: 1, count: 20)) { #expect(answer.status == 413) }
        #expect(await client.onLoop(\.openStreams) == 0)
    }

    @Test func followsTheLimitThroughEveryChange() async throws {
        var options = HTTP2Server.Options()
        options.maxConcurrentStreams = 1
        let held = Events<(HTTP2ServerConnection, Int32)>()
        let wire = try Wire(options: options) { connection, stream, _, _, _ in held.add((connection, stream)) }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        #expect(await client.onLoop(\.room) == 1)
        async let first = client.send()
        let (connection, stream) = await held.next()
        #expect(await client.onLoop(\.room) == 0)
        @Sendable func limit(_ count: UInt32) { wire.serverLoop.execute { connection.setMaxConcurrentStreams(count) } }

        limit(1000)
        await client.room(999)
        limit(0)
        // The fall tells nobody; the answer to the only stream does not make room either.
        wire.serverLoop.execute { connection.respond(stream: stream, status: 200, headers: [], body: []) }
        #expect(await first.status == 200)
        #expect(await client.onLoop(\.room) == 0)
        #expect(await client.send().failure == .notProcessed)
        limit(1000)
        await client.room(1000)
        async let second = client.burst(1000)
        for _ in 0..<1000 {
            let (connection, stream) = await held.next()
            wire.serverLoop.execute { connection.respond(stream: stream, status: 200, headers: [], body: []) }
        }
        #expect(await second.allSatisfy { $0.status == 200 })
    }

    @Test func aLowerLimitHoldsBackWhatIsNotWrittenYet() async throws {
        let held = Events<HTTP2ServerConnection>()
        let wire = try Wire { connection, stream, _, _, number in
            // Answered once the client has been told of the new limit.
            if number == 1 {
                connection.setMaxConcurrentStreams(2)
                held.add(connection)
            }
            connection.respond(stream: stream, status: 200, headers: [], body: [])
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        #expect(await client.send().status == 200)
        #expect(await client.burst(5).filter { $0.failure == .notProcessed }.count == 3)
    }

    @Test func losesNothingWhenTheServerGoesAway() async throws {
        let wire = try Wire { connection, stream, _, _, number in
            if number <= 10 { connection.respond(stream: stream, status: 200, headers: [], body: []) }
            if number == 20 { connection.abort() }
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let answers = await client.burst(50)
        #expect(answers.allSatisfy { $0.status == 200 || $0.isAmbiguous })
        guard case .closed(.some) = await client.next() else {
            Issue.record("a lost connection ends with an error")
            return
        }
    }

    @Test func endsWithTheServer() async throws {
        let held = Events<Int32>()
        let wire = try Wire { _, stream, _, _, _ in held.add(stream) }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        async let answer = client.send()
        _ = await held.next()
        wire.server.close()
        #expect(await answer.isAmbiguous)
        #expect(await client.next() == .goingAway(0, ""))
        #expect(await client.next() == .closed("the peer closed the connection"))
    }

    @Test func requestsEndAtTheirOwnDeadlines() async throws {
        let wire = try Wire { connection, stream, headers, _, _ in
            if headers.contains(HeaderField(":path", "/answer")) {
                connection.respond(stream: stream, status: 200, headers: [], body: [])
            }
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        async let slow = client.send(timeout: .seconds(20))
        async let later = client.burst(10, timeout: .milliseconds(60))
        async let sooner = client.burst(10, timeout: .milliseconds(20))
        #expect(await client.send(path: "/answer").status == 200)
        #expect(await sooner.allSatisfy { $0.failure == .timedOut })
        #expect(await later.allSatisfy { $0.failure == .timedOut })
        #expect(await client.send(path: "/answer").status == 200)
        #expect(await client.onLoop(\.openStreams) == 1)
        client.close()
        #expect(await slow.isAmbiguous)
    }

    @Test func aRequestThatWaitsForTheWindowEndsAtItsDeadline() async throws {
        var options = HTTP2Server.Options()
        options.opensWindows = false
        options.streamWindow = 0
        let wire = try Wire(options: options)
        let client = try wire.client()
        #expect(await client.next() == .opened)
        #expect(await client.send([1], timeout: .milliseconds(20)).failure == .timedOut)
        #expect(await client.send([], timeout: .seconds(20)).status == 200)
        #expect(await client.onLoop(\.openStreams) == 0)
    }

    @Test func noticesAMachineThatWentSilent() async throws {
        let arrived = Events<HTTP2ServerConnection>()
        let wire = try Wire { connection, _, _, _, _ in
            connection.freeze()
            arrived.add(connection)
        }
        var options = HTTP2ClientConnection.Options()
        options.pingAfterIdleRead = .milliseconds(30)
        // Long enough that a busy machine answers the PINGs before the request.
        options.pingTimeout = .seconds(3)
        let client = try wire.client(options: options)
        #expect(await client.next() == .opened)
        #expect(await client.send().isAmbiguous)
        #expect(await client.next() == .closed("timed out waiting for the answer to a PING"))
    }

    @Test func pingsKeepALivingConnection() async throws {
        let wire = try Wire()
        var options = HTTP2ClientConnection.Options()
        options.pingAfterIdleRead = .milliseconds(5)
        let client = try wire.client(options: options)
        #expect(await client.next() == .opened)
        // Several idle times long.
        let waited = Events<Bool>()
        client.loop.schedule(after: .milliseconds(60)) { waited.add(true) }
        _ = await waited.next()
        #expect(await client.send().status == 200)
    }

    @Test func aServerThatNeverAnswersPingsIsDropped() async throws {
        var server = HTTP2Server.Options()
        server.answersPings = false
        let wire = try Wire(options: server)
        var options = HTTP2ClientConnection.Options()
        options.pingAfterIdleRead = .milliseconds(10)
        options.pingTimeout = .milliseconds(10)
        let client = try wire.client(options: options)
        #expect(await client.next() == .opened)
        #expect(await client.next() == .closed("timed out waiting for the answer to a PING"))
    }

    @Test func retiresBeforeStreamIDsRunOut() async throws {
        let wire = try Wire()
        var options = HTTP2ClientConnection.Options()
        options.lastStreamID = 9
        let client = try wire.client(options: options)
        #expect(await client.next() == .opened)
        let answers = await client.burst(8)
        #expect(answers.filter { $0.status == 200 }.count == 5)
        #expect(answers.filter { $0.failure == .notProcessed }.count == 3)
        #expect(await client.next() == .goingAway(0, ""))
        #expect(await client.next() == .closed(nil))
    }

    @Test func stoppingTheLoopEndsEveryRequest() async throws {
        let arrived = Events<Int32>()
        let wire = try Wire { _, stream, _, _, _ in arrived.add(stream) }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        async let answer = client.send()
        _ = await arrived.next()
        wire.clientLoop.stop()
        #expect(await answer.isAmbiguous)
        #expect(await client.next() == .closed("the event loop was stopped"))
    }

    @Test func anUnansweredRequestHurtsNoOther() async throws {
        let wire = try Wire { connection, stream, _, _, number in
            if number != 3 { connection.respond(stream: stream, status: 200, headers: [], body: []) }
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let answers = await client.burst(20, timeout: .milliseconds(100))
        #expect(answers.filter { $0.status == 200 }.count == 19)
        #expect(answers[2].failure == .timedOut)
        #expect(await client.send().status == 200)
    }
}
