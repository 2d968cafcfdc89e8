import CNghttp2

/// The client's side of HTTP/2 without a socket: requests and received bytes in, frames and results out.
///
/// Confined to its connection. nghttp2's callbacks only note what happened; nothing is called back from within them.
final class HTTP2ClientSession {
    typealias Stream = UnsafeMutablePointer<ClientStream>

    struct Finished {
        let requester: any HTTP2Requester
        let result: Result<HTTP2Response, StreamFailure>
    }

    struct GoAway {
        let errorCode: UInt32
        let debug: [UInt8]
    }

    /// Results to hand out, in order; the owner empties it.
    var finished: [Finished] = []
    /// The peer's first SETTINGS have come.
    private(set) var isOpened = false
    /// The peer's latest GOAWAY.
    private(set) var goAway: GoAway?
    /// No new streams: the peer said GOAWAY, or the stream ids are nearly used up.
    var isClosedToRequests: Bool { goAway != nil || isExhausted || violation != nil }
    private(set) var isExhausted = false
    /// The peer's limit or the number of open streams has changed; the owner resets it.
    var roomChanged = false
    /// A PING is on its way; nil once its answer is here.
    private(set) var isPinging = false
    /// What the peer did against the rules; the session ends for it once its GOAWAY is written.
    private(set) var violation: String?
    /// Requests without a result, and those whose RST_STREAM is not written yet.
    private(set) var openStreams = 0
    /// Those of them that nghttp2 has.
    private var submittedStreams = 0

    var session: OpaquePointer?
    var streams = ClientStreams()
    private var pending: [Stream] = []
    private var pendingHead = 0
    private var block = HeaderBlock()
    private var table = HeaderTable()
    var memory = FieldMemory()
    /// Bytes of bodies that nghttp2 has but has not given out.
    private var unsentBody = 0
    /// HEADERS that nghttp2 has but has not given out.
    var unsentHeaders = 0
    var lastSentStream: Int32 = 0
    private let lastStreamID: Int32
    private let streamLimit: Int
    let keepsFieldsOfSuccess: Bool

    /// `lastStreamID`: no streams beyond it. `streamLimit`: how many at once, whatever the peer allows.
    init(
        streamLimit: Int = 10_000, lastStreamID: Int32 = 0x7FFF_0000, keepsFieldsOfSuccess: Bool = true
    ) throws {
        self.lastStreamID = lastStreamID
        self.keepsFieldsOfSuccess = keepsFieldsOfSuccess
        self.streamLimit = streamLimit
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0 else { throw SystemError(call: "nghttp2", code: 12) }
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, clientBeginHeaders)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, clientHeader)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, clientData)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, clientFrameReceived)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, clientFrameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, clientStreamClosed)
        let user = Unmanaged.passUnretained(self).toOpaque()
        guard nghttp2_session_client_new(&session, callbacks, user) == 0 else {
            throw SystemError(call: "nghttp2", code: 12)
        }
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(HTTP2.maximumHeaderBytes)),
        ]
        nghttp2_submit_settings(session, 0, settings, settings.count)
        // All streams share the connection's window: with the default of 64 KB error bodies alone could fill it.
        nghttp2_session_set_local_window_size(session, 0, 0, 16 << 20)
    }

    deinit { nghttp2_session_del(session) }

    // MARK: Requests

    var room: Int {
        guard isOpened, !isClosedToRequests else { return 0 }
        return max(0, peerLimit - openStreams)
    }

    private var peerLimit: Int {
        min(streamLimit, Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)))
    }

    /// - Parameter own: writes header fields of this request alone, beside prepared ones.
    func request(
        _ headers: ClientStream.Headers, body: [UInt8], deadline: MonotonicTime, requester: any HTTP2Requester,
        own: (inout FieldLiterals) -> Void = { _ in }
    ) {
        guard room > 0 else {
            finished.append(Finished(requester: requester, result: .failure(.notProcessed)))
            return
        }
        let stream = streams.take()
        stream.pointee.headers = headers
        own(&stream.pointee.own)
        stream.pointee.body = body
        stream.pointee.requester = requester
        stream.pointee.deadline = deadline
        streams.byDeadline.insert(stream)
        openStreams += 1
        pending.append(stream)
    }

    /// The earliest deadline of a request without a result.
    var nextDeadline: MonotonicTime? { streams.byDeadline.first?.pointee.deadline }

    /// Ends the requests whose deadline has passed.
    func expire(_ now: MonotonicTime) {
        while let stream = streams.byDeadline.first, stream.pointee.deadline <= now {
            let id = stream.pointee.id
            settle(stream, answer(of: stream) ?? .failure(isUnsent(stream) ? .notProcessed : .timedOut))
            if id != 0 { nghttp2_submit_rst_stream(session, 0, id, HTTP2.cancel) }
        }
    }

    func ping() {
        isPinging = true
        nghttp2_submit_ping(session, 0, nil)
    }

    /// Says farewell with GOAWAY.
    func sayGoodbye() { nghttp2_submit_goaway(session, 0, 0, HTTP2.noError, nil, 0) }

    /// Gives every request without a result one: the connection is gone.
    ///
    /// Streams from `firstUnsent` on never left this machine.
    func fail(_ reason: String, firstUnsent: Int32) {
        while let stream = streams.byDeadline.first {
            let isUnsent = isUnsent(stream) || stream.pointee.id >= firstUnsent
            settle(stream, answer(of: stream) ?? .failure(isUnsent ? .notProcessed : .ambiguous(reason)))
        }
        pending.removeAll()
        pendingHead = 0
        openStreams = 0
    }

    // MARK: Bytes

    /// Takes bytes from the peer.
    ///
    /// Throws `ConnectionError.protocolViolation` when nothing can be made of them.
    func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let count = nghttp2_session_mem_recv(session, base, bytes.count)
        if count < 0 { throw ConnectionError.protocolViolation(HTTP2.text(count)) }
    }

    /// Appends frames for the peer, about as many as one turn should write; true when there are more.
    ///
    /// The id of the first stream whose HEADERS are among them goes to `firstStream`.
    func gather(into output: inout ByteBuffer, firstStream: inout Int32) throws -> Bool {
        firstStream = lastSentStream + 1
        while true {
            let hasSubmitted = submitPending()
            while output.count < HTTP2.gatherLimit || unsentHeaders > 0 {
                var frame: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(session, &frame)
                if count < 0 { throw ConnectionError.protocolViolation(HTTP2.text(count)) }
                guard count > 0, let frame else {
                    unsentHeaders = 0
                    break
                }
                append(UnsafeRawBufferPointer(start: frame, count: count), to: &output)
            }
            if output.count >= HTTP2.gatherLimit { return true }
            if pendingHead == pending.count || !hasSubmitted { return false }
        }
    }

    private func append(_ frame: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
        // Whatever request is the first to go out with them.
        for size in CompletedHeaders.tableSizes(in: frame) { table.resize(to: size) }
        guard let headers = CompletedHeaders(frame),
            let user = nghttp2_session_get_stream_user_data(session, headers.stream),
            case let stream = user.assumingMemoryBound(to: ClientStream.self),
            case .prepared(let prepared) = stream.pointee.headers
        else { return output.append(frame[...]) }
        let limit = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_FRAME_SIZE)
        headers.write(
            indexed: table.block(of: prepared), literals: prepared.literals, own: stream.pointee.own,
            limit: Int(limit), to: &output)
    }

    /// Whether nghttp2 has ended the connection by its rules and has nothing more to say.
    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    /// Hands waiting requests to nghttp2, not more at once than one write holds.
    ///
    /// A request waits here until the connection's window has room for its body: nghttp2 would take the streams that wait
    /// for it in any order, and let some starve. False when there was nothing to hand over.
    private func submitPending() -> Bool {
        var budget = 32
        while budget > 0, pendingHead < pending.count {
            let stream = pending[pendingHead]
            guard stream.pointee.requester == nil || isClosedToRequests || fits(stream.pointee.body.count) else {
                break
            }
            pendingHead += 1
            guard stream.pointee.requester != nil else {
                streams.release(stream)
                continue
            }
            budget -= 1
            // The peer may have lowered its limit, or said GOAWAY, since the request was made.
            guard submittedStreams < peerLimit, !isClosedToRequests, submit(stream) else {
                settle(stream, .failure(.notProcessed))
                streams.release(stream)
                continue
            }
        }
        if pendingHead == pending.count {
            pending.removeAll(keepingCapacity: true)
            pendingHead = 0
        }
        return budget < 32
    }

    /// Whether a body fits into the connection's window behind those that are still to go; that of an only stream always
    /// does.
    private func fits(_ count: Int) -> Bool {
        submittedStreams == 0 || Int(nghttp2_session_get_remote_window_size(session)) >= unsentBody + count
    }

    private func submit(_ stream: Stream) -> Bool {
        fillBlock(stream.pointee.headers)
        var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: stream), read_callback: clientReadBody)
        let id = withUnsafePointer(to: &provider) { provider in
            nghttp2_submit_request(
                session, nil, block.base, block.count, stream.pointee.body.isEmpty ? nil : provider, stream)
        }
        guard id > 0 else { return false }
        stream.pointee.id = id
        submittedStreams += 1
        unsentHeaders += 1
        unsentBody += stream.pointee.body.count
        if id >= lastStreamID, !isExhausted {
            isExhausted = true
            roomChanged = true
        }
        return true
    }

    /// Prepared headers are put in when the frame goes out. Others do without HPACK's table, which is theirs.
    private func fillBlock(_ headers: ClientStream.Headers) {
        switch headers {
        case .none, .prepared: block.begin(fields: 0, bytes: 0)
        case .fields(let list):
            block.begin(fields: list.count, bytes: HeaderBlock.size(list))
            block.append(list, neverIndexed: true)
        }
    }

    // MARK: Results

    private func isUnsent(_ stream: Stream) -> Bool { stream.pointee.id == 0 || stream.pointee.id > lastSentStream }

    /// Gives the request its result; the stream stays until nghttp2 is done with it.
    private func settle(_ stream: Stream, _ result: Result<HTTP2Response, StreamFailure>) {
        guard let requester = stream.pointee.requester else { return }
        stream.pointee.requester = nil
        streams.byDeadline.remove(stream)
        finished.append(Finished(requester: requester, result: result))
        // nghttp2 never had this one, so that nothing more will be heard of it.
        if stream.pointee.id == 0 {
            openStreams -= 1
            roomChanged = true
        }
    }

    func streamClosed(_ stream: Stream, errorCode: UInt32) {
        let isUnsent = isUnsent(stream)
        if isUnsent, unsentHeaders > 0 { unsentHeaders -= 1 }
        settle(stream, result(of: stream, errorCode: errorCode, isUnsent: isUnsent))
        openStreams -= 1
        submittedStreams -= 1
        unsentBody -= stream.pointee.body.count - stream.pointee.bodyOffset
        roomChanged = true
        streams.release(stream)
    }

    private func result(
        of stream: Stream, errorCode: UInt32, isUnsent: Bool
    ) -> Result<HTTP2Response, StreamFailure> {
        if let answer = answer(of: stream) { return answer }
        if isUnsent || errorCode == HTTP2.refusedStream && stream.pointee.status == 0 { return .failure(.notProcessed) }
        return .failure(.ambiguous("the stream was reset: \(HTTP2.name(ofError: errorCode))"))
    }

    func bodySent(_ count: Int) { unsentBody -= count }

    private func answer(of stream: Stream) -> Result<HTTP2Response, StreamFailure>? {
        guard stream.pointee.hasStatus else { return nil }
        return .success(
            HTTP2Response(
                status: stream.pointee.status, headers: stream.pointee.answerHeaders, body: stream.pointee.answerBody,
                isWhole: stream.pointee.isAnswered))
    }

    func headersSent(_ id: Int32) {
        lastSentStream = id
        unsentHeaders -= 1
    }

    func settingsReceived() {
        isOpened = true
        roomChanged = true
    }

    func pingAnswered() { isPinging = false }

    func goAwayReceived(_ frame: nghttp2_goaway) {
        let debug = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        goAway = GoAway(errorCode: frame.error_code, debug: Array(debug.prefix(4096)))
    }

    /// nghttp2 ends a connection with an error by itself when the peer breaks the rules, and says why.
    func goAwaySent(_ frame: nghttp2_goaway) {
        guard frame.error_code != HTTP2.noError else { return }
        let reason = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        violation = "\(HTTP2.name(ofError: frame.error_code)) \(String(decoding: reason, as: UTF8.self))"
    }
}
