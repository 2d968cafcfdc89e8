import TestSupport
import Testing

@testable import Net

@Suite(.fewAtATime) struct HTTP2ConnectionTests {
    @Test func echoesHeadersAndBody() async throws {
        let wire = try Wire()
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let answer = try await client.burst(1, path: "/3/device/abc", [1, 0, 255])[0].get()
        #expect(answer.status == 200)
        #expect(answer.body == [1, 0, 255])
        #expect(answer.headers == [HeaderField("n", "0")])
        client.close()
        #expect(await client.next() == .closed(nil))
    }

    @Test func speaksInTheClear() async throws {
        let wire = try Wire(inTheClear: true)
        let client = try wire.client(inTheClear: true)
        #expect(await client.next() == .opened)
        #expect(await client.send([7]).status == 200)
    }

    @Test func answersTenThousandRequestsOverAThousandStreams() async throws {
        let wire = try Wire()
        let client = try wire.client()
        #expect(await client.next() == .opened)
        #expect(await client.onLoop(\.room) == 1000)
        let answers = await client.stream(10_000, Array(repeating: 0x61, count: 200))
        #expect(answers.count { $0.status == 200 } == 10_000)
        #expect(await client.onLoop(\.room) == 1000)
        #expect(await client.onLoop(\.openStreams) == 0)
    }

    @Test func passesPreparedHeadersInOrder() async throws {
        let seen = Events<[String]>()
        let statuses = Events<Int?>()
        let wire = try Wire { connection, stream, headers, _, _ in
            seen.add(headers.map { String(decoding: $0.name + [0x3D] + $0.value, as: UTF8.self) })
            connection.respond(stream: stream, status: 200, headers: [], body: [])
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let prepared = PreparedHeaders([
            HeaderField(":method", "POST"), HeaderField(":scheme", "https"), HeaderField(":authority", "a"),
            HeaderField("authorization", "bearer x", neverIndexed: true), HeaderField("apns-topic", "t"),
        ])
        let long = [126, 127, 128, 300, 16_384, 40_000].map { "/" + String(repeating: "x", count: $0 - 1) }
        for path in ["/one", "/", "/another/longer/path"] + long {
            client.loop.execute {
                client.connection.request(
                    prepared: prepared, body: [1], timeout: .seconds(20),
                    requester: CompletionRequester { statuses.add($0.status) }
                ) { own in
                    own.begin(path: path)
                    own.append("apns-id", String(path.prefix(200)))
                }
            }
            #expect(
                await seen.next() == [
                    ":path=\(path)", ":method=POST", ":scheme=https", ":authority=a", "apns-topic=t",
                    "authorization=bearer x", "apns-id=\(path.prefix(200))",
                ])
            #expect(await statuses.next() == 200)
        }
    }

    @Test func joinsABodyOfManyFrames() async throws {
        let body = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
        let wire = try Wire { connection, stream, _, _, _ in
            connection.respond(stream: stream, status: 400, headers: [], body: body, dataFrameSize: 7)
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let answer = try await client.send().get()
        #expect(answer.status == 400)
        #expect(answer.body == body)
    }

    @Test func capsTheBodyAndKeepsTheWindowsOpen() async throws {
        let wire = try Wire { connection, stream, _, _, _ in
            connection.respond(
                stream: stream, status: 200, headers: [], body: Array(repeating: 1, count: 300_000))
        }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        // Together more than the connection's window.
        for answer in await client.stream(100, []) {
            #expect(try answer.get().body.count == HTTP2ClientConnection.maximumBody)
        }
    }

    @Test func sendsLargeBodiesThroughSmallWindows() async throws {
        var options = HTTP2Server.Options()
        options.streamWindow = 1000
        let wire = try Wire(options: options)
        let client = try wire.client()
        #expect(await client.next() == .opened)
        let body = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        for answer in await client.stream(20, body) { #expect(try answer.get().body == body) }
    }

    @Test func refusesBodiesThatAreTooLarge() async throws {
        let wire = try Wire()
        let client = try wire.client()
        #expect(await client.next() == .opened)
        #expect(await client.send(Array(repeating: 1, count: 70_000)).status == 413)
        #expect(await client.send(Array(repeating: 1, count: 60_000)).status == 200)
    }

    @Test func completesNeverInsideRequest() async throws {
        let wire = try Wire()
        let client = try wire.client()
        #expect(await client.next() == .opened)
        client.close()
        #expect(await client.next() == .closed(nil))
        // On a connection that is closed the result is known at once, and still comes later.
        let isInside = Events<Bool>()
        client.loop.execute {
            nonisolated(unsafe) var inside = true
            client.connection.request(headers: Client.headers(), body: [], timeout: .seconds(1)) { answer in
                #expect(answer.failure == .notProcessed)
                isInside.add(inside)
            }
            inside = false
        }
        #expect(await isInside.next() == false)
    }

    @Test func waitsForOpenStreamsWhenClosing() async throws {
        let held = Events<(HTTP2ServerConnection, Int32)>()
        let wire = try Wire { connection, stream, _, _, _ in held.add((connection, stream)) }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        async let answer = client.send()
        let (connection, stream) = await held.next()
        client.close(deadline: .seconds(20))
        #expect(await client.send().failure == .notProcessed)
        wire.serverLoop.execute { connection.respond(stream: stream, status: 200, headers: [], body: []) }
        #expect(await answer.status == 200)
        #expect(await client.next() == .closed(nil))
    }

    @Test func givesUpOpenStreamsAtTheDeadline() async throws {
        let arrived = Events<Int32>()
        let wire = try Wire { _, stream, _, _, _ in arrived.add(stream) }
        let client = try wire.client()
        #expect(await client.next() == .opened)
        async let answer = client.send()
        _ = await arrived.next()
        client.close(deadline: .milliseconds(20))
        #expect(await answer.isAmbiguous)
        #expect(await client.next() == .closed(nil))
    }
}
