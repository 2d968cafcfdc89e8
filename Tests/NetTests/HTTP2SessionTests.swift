import Testing

@testable import Net

/// HTTP/2 with no socket between: bytes made and carried by hand.
@Suite struct HTTP2SessionTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        init(_ name: String, _ bytes: [UInt8]) {
            testDescription = name
            self.bytes = bytes
        }
    }

    static let violations: [Case] = [
        Case("HTTP/1.1", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        Case("no SETTINGS first", Frames.frame(6, Array(repeating: 0, count: 8))),
        Case("SETTINGS of a wrong length", Frames.frame(4, [1, 2, 3])),
        Case("too large a frame", Frames.settings + [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1]),
        Case("DATA on no stream", Frames.settings + Frames.frame(0, [1])),
        Case("HEADERS on no stream", Frames.settings + Frames.frame(1, flags: 5, [0x88])),
        Case("an answer to nothing", Frames.settings + Frames.ok(99)),
        Case("a stream of the server's", Frames.settings + Frames.ok(2)),
        Case(
            "a push",
            Frames.settings + Frames.frame(4, flags: 1) + Frames.frame(5, flags: 4, stream: 1, Frames.bytes(2) + [0x88])
        ),
        Case(
            "broken HPACK",
            Frames.settings + Frames.frame(1, flags: 5, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F])),
        Case("a window beyond its limit", Frames.settings + Frames.frame(8, Frames.bytes(0x7FFF_FFFF))),
        Case("a window that opens by nothing", Frames.settings + Frames.frame(8, Frames.bytes(0))),
        Case("RST_STREAM of nothing", Frames.settings + Frames.frame(3, stream: 99, Frames.bytes(8))),
        Case("CONTINUATION of nothing", Frames.settings + Frames.frame(9, flags: 4, stream: 1, [0x88])),
        Case("PING of a wrong length", Frames.settings + Frames.frame(6, [1])),
        Case("GOAWAY of a wrong length", Frames.settings + Frames.frame(7, [1])),
        Case("padding longer than its frame", Frames.settings + Frames.frame(0, flags: 8, stream: 1, [200, 1])),
    ]

    static let malformedHeaders: [Case] = [
        Case("no status", [0x00, 1, 0x61, 1, 0x62]),
        Case("an upper-case name", [0x88, 0x00, 1, 0x41, 1, 0x62]),
        Case("a status that is no number", [0x08, 3, 0x61, 0x62, 0x63]),
        Case("two statuses", [0x88, 0x88]),
    ]

    /// A client session, what it wrote, and how its requests ended.
    final class Peer {
        let session: HTTP2ClientSession
        var written: [UInt8] = []
        var results: [Int: Client.Answer] = [:]
        var completions = 0

        init() throws { session = try HTTP2ClientSession() }

        func request(_ number: Int, body: [UInt8] = [1], deadline: Int64 = .max) {
            session.request(
                .fields(Client.headers(path: "/\(number)")), body: body, deadline: MonotonicTime(nanoseconds: deadline),
                requester: CompletionRequester {
                    self.results[number] = $0
                    self.completions += 1
                })
        }

        func request(_ headers: PreparedHeaders, path: String) {
            session.request(
                .prepared(headers), body: [], deadline: MonotonicTime(nanoseconds: .max),
                requester: CompletionRequester { _ in }
            ) { $0.begin(path: path) }
        }

        func receive(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try session.receive($0) } }

        func turn() throws {
            var output = ByteBuffer(capacity: 64)
            var first: Int32 = 0
            while try session.gather(into: &output, firstStream: &first) {
                written += output.bytes
                output.removeAll()
            }
            written += output.bytes
            let finished = session.finished
            session.finished = []
            for request in finished { request.requester.requestEnded(request.result) }
        }

        /// The blocks of the HEADERS that were written since this was asked last.
        func takeBlocks() -> [[UInt8]] {
            var blocks: [[UInt8]] = []
            var rest = written.starts(with: Frames.clientPreface) ? written.dropFirst(24) : written[...]
            while rest.count >= 9 {
                let head = rest.prefix(9).map(Int.init)
                let length = head[0] << 16 | head[1] << 8 | head[2]
                if head[3] == 1 { blocks.append(Array(rest.dropFirst(9).prefix(length))) }
                rest = rest.dropFirst(9 + length)
            }
            written = []
            return blocks
        }

        /// The streams whose HEADERS were written.
        var headers: [UInt32] {
            var streams: [UInt32] = []
            var start = Frames.clientPreface.count
            while start + 9 <= written.count {
                let head = written[start..<start + 9].map(UInt32.init)
                if head[3] == 1 { streams.append(head[5] << 24 | head[6] << 16 | head[7] << 8 | head[8]) }
                start += 9 + Int(head[0] << 16 | head[1] << 8 | head[2])
            }
            return streams
        }

        func end(firstUnsent: Int32 = .max) {
            session.fail("over", firstUnsent: firstUnsent)
            let finished = session.finished
            session.finished = []
            for request in finished { request.requester.requestEnded(request.result) }
        }
    }

    private func opened(_ requests: Int) throws -> Peer {
        let peer = try Peer()
        try peer.receive(Frames.settings)
        for number in 0..<requests { peer.request(number) }
        try peer.turn()
        return peer
    }

    /// Also where another kind of request is the first to go out with the new size.
    @Test(arguments: [false, true]) func followsTheSizeOfThePeersTable(_ isMixed: Bool) throws {
        let peer = try Peer()
        let decoder = try HeaderDecoder()
        let headers = PreparedHeaders([
            HeaderField(":method", "POST"), HeaderField(":scheme", "https"),
            HeaderField(":authority", "gateway.example"),
            HeaderField("apns-topic", "com.example.app"), HeaderField("apns-push-type", "alert"),
            HeaderField("authorization", "bearer x", neverIndexed: true),
        ])
        try peer.receive(Frames.settings)
        for size in [4096, 0, 60, 150, 1 << 20, 33, 4096] {
            try peer.receive(Frames.frame(4, [0, 1] + Frames.bytes(UInt32(size))))
            decoder.limitTable(to: size)
            if isMixed { peer.request(9) }
            for number in 0..<3 { peer.request(headers, path: "/\(number)") }
            try peer.turn()
            var blocks = peer.takeBlocks()
            #expect(blocks.count == (isMixed ? 4 : 3))
            if isMixed {
                let fields = try decoder.fields(of: blocks.removeFirst())
                #expect(fields.map(\.value) == Client.headers(path: "/9").map(\.value))
            }
            for (number, block) in blocks.enumerated() {
                let path = HeaderField(":path", "/\(number)")
                let last = HeaderField("authorization", "bearer x")
                #expect(try decoder.fields(of: block) == [path] + headers.fields + [last], "\(size)")
            }
        }
    }

    @Test func beginsWithPrefaceAndSettings() throws {
        let peer = try Peer()
        #expect(peer.session.room == 0)
        try peer.turn()
        #expect(peer.written.starts(with: Frames.clientPreface))
        #expect(peer.written[Frames.clientPreface.count + 3] == 4)
        try peer.receive(Frames.settings)
        #expect(peer.session.room == 10_000)
    }

    @Test(arguments: violations)
    func endsForAViolation(_ violation: Case) throws {
        let bytes = violation.bytes
        let peer = try opened(3)
        // What opened the session must not count as the first frame here.
        let fresh = try Peer()
        let subject = bytes.starts(with: Frames.settings) ? peer : fresh
        var failed = false
        do {
            try subject.receive(bytes)
            try subject.turn()
        } catch { failed = true }
        #expect(failed || subject.session.violation != nil, "\(violation)")
        #expect(subject.session.room == 0 || failed)
        subject.end()
        #expect(subject.completions == (subject === peer ? 3 : 0))
    }

    @Test func keepsRequestsBackUntilTheWindowHasRoom() throws {
        let peer = try opened(0)
        for number in 0..<6 { peer.request(number, body: Array(repeating: 1, count: 16_000)) }
        try peer.turn()
        #expect(peer.headers == [1, 3, 5, 7])
        try peer.receive(Frames.frame(8, Frames.bytes(16_000)))
        try peer.turn()
        #expect(peer.headers == [1, 3, 5, 7, 9])
        // Nobody waits for a window once there is no way to be sent.
        try peer.receive(Frames.goAway(last: 9, error: 0))
        try peer.turn()
        #expect(throws: StreamFailure.notProcessed) { try peer.results[5]?.get() }
        #expect(peer.completions == 1)
    }

    @Test(arguments: [0, 1, 2])
    func aStatusStandsEvenIfItsBodyIsCutOff(end: Int) throws {
        let peer = try Peer()
        try peer.receive(Frames.settings)
        peer.request(0, deadline: 5)
        try peer.turn()
        // HEADERS with :status 200 and without END_STREAM.
        try peer.receive(Frames.frame(1, flags: 4, stream: 1, [0x88]))
        switch end {
        case 0: try peer.receive(Frames.frame(3, stream: 1, Frames.bytes(2)))
        case 1: peer.session.expire(MonotonicTime(nanoseconds: 6))
        default: peer.end()
        }
        try peer.turn()
        #expect(peer.results[0]?.status == 200)
        #expect(peer.completions == 1)
    }

    @Test(arguments: malformedHeaders)
    func resetsAStreamForAMalformedAnswer(_ answer: Case) throws {
        let peer = try opened(2)
        try peer.receive(Frames.frame(1, flags: 5, stream: 1, answer.bytes) + Frames.ok(3))
        try peer.turn()
        #expect(peer.results[0]?.isAmbiguous == true, "\(answer)")
        #expect(peer.results[1]?.status == 200)
        #expect(peer.session.violation == nil)
        #expect(peer.session.openStreams == 0)
    }

    @Test func passesOverInterimAnswersAndTrailers() throws {
        let peer = try opened(1)
        // 103 with a field, 200 with a field, DATA, trailers with a field.
        try peer.receive(Frames.frame(1, flags: 4, stream: 1, [0x08, 3, 0x31, 0x30, 0x33, 0x00, 1, 0x61, 1, 0x31]))
        try peer.receive(Frames.frame(1, flags: 4, stream: 1, [0x88, 0x00, 1, 0x62, 1, 0x32]))
        try peer.receive(
            Frames.frame(0, stream: 1, [7, 8]) + Frames.frame(0, stream: 1) + Frames.frame(0, stream: 1, [9]))
        try peer.receive(Frames.frame(1, flags: 5, stream: 1, [0x00, 1, 0x63, 1, 0x33]))
        try peer.turn()
        let answer = try #require(try peer.results[0]?.get())
        #expect(answer.status == 200)
        #expect(answer.headers == [HeaderField("b", "2")])
        #expect(answer.body == [7, 8, 9])
    }

    @Test func followsAGoAwayInTwoSteps() throws {
        // First a warning with the highest id of all, then the real last stream (RFC 9113, section 6.8).
        let peer = try opened(4)
        try peer.receive(Frames.goAway(last: 0x7FFF_FFFF, error: 0))
        try peer.turn()
        #expect(peer.results.isEmpty)
        #expect(peer.session.room == 0)
        peer.request(9)
        try peer.receive(Frames.ok(1) + Frames.goAway(last: 3, error: 2, debug: "why"))
        try peer.turn()
        #expect(peer.results[0]?.status == 200)
        #expect(peer.results[1] == nil)
        for number in [2, 3, 9] { #expect(peer.results[number]?.failure == .notProcessed) }
        #expect(peer.session.goAway?.errorCode == 2)
        peer.end()
        #expect(peer.results[1]?.isAmbiguous == true)
        #expect(peer.completions == 5)
    }

    @Test func whatWasNeverWrittenWasNotProcessed() throws {
        let peer = try opened(4)
        peer.request(4)
        // Streams 5 and 7 were in a write of which the socket took nothing; request 4 never came to be a stream.
        peer.end(firstUnsent: 5)
        for number in 0..<2 { #expect(peer.results[number]?.isAmbiguous == true) }
        for number in 2..<5 { #expect(peer.results[number]?.failure == .notProcessed) }
    }

    @Test func aRequestThatExpiresUnwrittenWasNotProcessed() throws {
        let peer = try opened(0)
        peer.request(0, deadline: 10)
        peer.request(1, deadline: 5)
        peer.request(2, deadline: 20)
        peer.session.expire(MonotonicTime(nanoseconds: 10))
        #expect(peer.session.openStreams == 1)
        try peer.turn()
        #expect(peer.results[0]?.failure == .notProcessed)
        #expect(peer.results[1]?.failure == .notProcessed)
        #expect(peer.session.nextDeadline == MonotonicTime(nanoseconds: 20))
        peer.session.expire(MonotonicTime(nanoseconds: 20))
        #expect(peer.session.openStreams == 1, "the stream is the peer's until RST_STREAM is written")
        try peer.turn()
        #expect(peer.results[2]?.failure == .timedOut)
        #expect(peer.session.openStreams == 0)
        #expect(peer.written.suffix(13) == Frames.frame(3, stream: 1, Frames.bytes(8))[...])
    }

    @Test func deadlinesOfEveryKindComeInOrder() throws {
        var list = DeadlineList()
        var streams = ClientStreams()
        var random = SeededGenerator(seed: 1)
        var alive: [ClientStreams.Stream] = []
        for _ in 0..<500 {
            let stream = streams.take()
            stream.pointee.deadline = MonotonicTime(nanoseconds: .random(in: 0..<50, using: &random))
            list.insert(stream)
            alive.append(stream)
            if Bool.random(using: &random), let index = alive.indices.randomElement(using: &random) {
                list.remove(alive.remove(at: index))
            }
        }
        var deadlines: [MonotonicTime] = []
        while let first = list.first {
            deadlines.append(first.pointee.deadline)
            list.remove(first)
        }
        #expect(deadlines == alive.map(\.pointee.deadline).sorted())
    }

    @Test func survivesWhateverAServerSends() throws {
        // A real server's bytes with some of them changed, left out or doubled, in pieces.
        var random = SeededGenerator(seed: 7)
        for _ in 0..<400 {
            let peer = try opened(8)
            let server = try HTTP2ServerSession(.init())
            var bytes = try answers(of: server, to: peer.written)
            mutate(&bytes, &random)
            do {
                while !bytes.isEmpty {
                    let count = Int.random(in: 1...bytes.count, using: &random)
                    try peer.receive(Array(bytes.prefix(count)))
                    bytes.removeFirst(count)
                    if Bool.random(using: &random) { try peer.turn() }
                }
                try peer.turn()
            } catch {}
            peer.end()
            #expect(peer.completions == 8)
            #expect(peer.results.count == 8)
        }
    }

    @Test func aServerSurvivesWhateverAClientSends() throws {
        var random = SeededGenerator(seed: 11)
        let whole = try opened(8).written
        for _ in 0..<400 {
            let server = try HTTP2ServerSession(.init())
            var bytes = whole
            mutate(&bytes, &random)
            _ = try? answers(of: server, to: bytes)
        }
    }

    @Test func aServerGivesOneAnswer() throws {
        let peer = try Peer()
        let server = try HTTP2ServerSession(.init())
        var received = 0
        func exchange() throws {
            try peer.turn()
            let news = Array(peer.written[received...])
            received = peer.written.count
            try news.withUnsafeBytes { try server.receive($0) }
            var output = ByteBuffer(capacity: 64)
            var more = true
            while more {
                more = try server.gather(into: &output)
                try peer.receive(Array(output.bytes))
                output.removeAll()
            }
        }
        try exchange()
        peer.request(0)
        try exchange()
        let id = try #require(server.arrived.first)
        // More than the window lets through at once: the others come while the first is being read.
        let whole = [UInt8](repeating: 1, count: 100_000)
        server.respond(id, status: 200, headers: [], body: whole, dataFrameSize: .max)
        for body in [[], [2], whole + whole] {
            try exchange()
            server.respond(id, status: 500, headers: [], body: body, dataFrameSize: .max)
        }
        try exchange()
        let answer = try #require(peer.results[0]).get()
        #expect(answer.status == 200)
        #expect(answer.isWhole)
    }

    /// What `server` writes when it echoes the requests in `bytes`.
    private func answers(of server: HTTP2ServerSession, to bytes: [UInt8]) throws -> [UInt8] {
        try bytes.withUnsafeBytes { try server.receive($0) }
        for id in server.arrived {
            guard let request = server.takeRequest(id) else { continue }
            let headers = request.headers.filter { $0.name.first != 0x3A }
            server.respond(
                id, status: 200, headers: headers, body: request.body + Array(repeating: 9, count: 40),
                dataFrameSize: 16)
        }
        var output = ByteBuffer(capacity: 64)
        while try server.gather(into: &output) {}
        return Array(output.bytes)
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let index = bytes.indices.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(contentsOf: bytes[index..<min(index + 20, bytes.count)], at: index)
            default: bytes.removeLast(bytes.count - index)
            }
        }
    }
}
