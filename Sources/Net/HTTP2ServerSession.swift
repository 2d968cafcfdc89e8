import CNghttp2

/// The server's side of HTTP/2 without a socket: received bytes and answers in, requests and frames out.
///
/// Confined to its connection. nghttp2's callbacks only note what happened; nothing is called back from within them.
final class HTTP2ServerSession {
    typealias Stream = UnsafeMutablePointer<ServerStream>

    /// Requests that have arrived whole, or are refused for their size; the owner empties it.
    var arrived: [Int32] = []
    /// What the client did against the rules; the session ends for it once its GOAWAY is written.
    private(set) var violation: String?
    /// How many requests the client has taken back or reset.
    private(set) var resetsReceived = 0

    private var session: OpaquePointer?
    private var streams: [Stream] = []
    private var free: [Stream] = []
    private var block = HeaderBlock()
    var memory = FieldMemory()
    let maximumBody: Int
    private let acknowledgesSettings: Bool

    init(_ options: HTTP2Server.Options) throws {
        maximumBody = options.maximumBody
        acknowledgesSettings = options.acknowledgesSettings
        var callbacks: OpaquePointer?
        var settings: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&settings) == 0 else {
            throw SystemError(call: "nghttp2", code: 12)
        }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(settings)
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, serverBeginHeaders)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, serverHeader)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, serverData)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, serverFrameReceived)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, serverFrameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, serverStreamClosed)
        nghttp2_option_set_no_closed_streams(settings, 1)
        nghttp2_option_set_no_auto_ping_ack(settings, options.answersPings ? 0 : 1)
        nghttp2_option_set_no_auto_window_update(settings, options.opensWindows ? 0 : 1)
        let user = Unmanaged.passUnretained(self).toOpaque()
        guard nghttp2_session_server_new2(&session, callbacks, user, settings) == 0 else {
            throw SystemError(call: "nghttp2", code: 12)
        }
        greet(options)
    }

    deinit {
        nghttp2_session_del(session)
        for stream in streams {
            stream.deinitialize(count: 1)
            stream.deallocate()
        }
    }

    private func greet(_ options: HTTP2Server.Options) {
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: options.streamWindow)
        ]
        if let count = options.maxConcurrentStreams {
            settings.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: count))
        }
        nghttp2_submit_settings(session, 0, settings, settings.count)
        if options.connectionWindow > 65_535 {
            nghttp2_session_set_local_window_size(session, 0, 0, Int32(clamping: options.connectionWindow))
        }
    }

    // MARK: Bytes

    /// Takes bytes from the client.
    ///
    /// Throws `ConnectionError.protocolViolation` when nothing can be made of them.
    func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let count = nghttp2_session_mem_recv(session, base, bytes.count)
        if count < 0 { throw ConnectionError.protocolViolation(HTTP2.text(count)) }
    }

    /// Appends frames for the client, about as many as one turn should write; true when there are more.
    func gather(into output: inout ByteBuffer) throws -> Bool {
        while output.count < HTTP2.gatherLimit {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            if count < 0 { throw ConnectionError.protocolViolation(HTTP2.text(count)) }
            guard count > 0, let frame else { return false }
            if !acknowledgesSettings, count == 9, frame[3] == UInt8(NGHTTP2_SETTINGS.rawValue), frame[4] == 1 {
                continue
            }
            output.append(frame, count: count)
        }
        return true
    }

    // MARK: Answers

    /// The request of a stream that has arrived; nil when the client has taken it back meanwhile.
    func takeRequest(_ id: Int32) -> (headers: [HeaderField], body: [UInt8], isTooLarge: Bool)? {
        guard let stream = find(id) else { return nil }
        defer {
            stream.pointee.headers = []
            stream.pointee.body = []
        }
        return (stream.pointee.headers, stream.pointee.body, stream.pointee.isTooLarge)
    }

    /// Does nothing when the stream is gone or has its answer.
    func respond(_ id: Int32, status: Int, headers: [HeaderField], body: [UInt8], dataFrameSize: Int) {
        guard let stream = find(id), !stream.pointee.isAnswered else { return }
        stream.pointee.isAnswered = true
        stream.pointee.answer = body
        stream.pointee.dataFrameSize = max(1, dataFrameSize)
        block.begin(fields: headers.count + 1, bytes: HeaderBlock.size(headers) + 32)
        block.append(name: HTTP2ServerSession.statusName, value: Array("\(status)".utf8), neverIndexed: false)
        block.append(headers)
        var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: stream), read_callback: serverReadBody)
        _ = withUnsafePointer(to: &provider) { provider in
            nghttp2_submit_response(session, id, block.base, block.count, body.isEmpty ? nil : provider)
        }
    }

    private static let statusName = Array(":status".utf8)

    func reset(_ id: Int32, errorCode: UInt32) { nghttp2_submit_rst_stream(session, 0, id, errorCode) }

    func goAway(lastStream: Int32, errorCode: UInt32, debug: [UInt8]) {
        submittedGoAways += 1
        if nghttp2_submit_goaway(session, 0, lastStream, errorCode, debug, debug.count) != 0 { submittedGoAways -= 1 }
    }

    private var submittedGoAways = 0

    /// The last stream that was taken in, for a GOAWAY that refuses nothing that has arrived.
    var lastStream: Int32 { nghttp2_session_get_last_proc_stream_id(session) }

    func setMaxConcurrentStreams(_ count: UInt32) {
        let entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: count)
        withUnsafePointer(to: entry) { _ = nghttp2_submit_settings(session, 0, $0, 1) }
    }

    /// Opens a window by so many bytes: that of a stream, or with 0 the connection's.
    func openWindow(stream: Int32, by count: Int32) { nghttp2_submit_window_update(session, 0, stream, count) }

    private func find(_ id: Int32) -> Stream? {
        nghttp2_session_get_stream_user_data(session, id)?.assumingMemoryBound(to: ServerStream.self)
    }

    // MARK: From the callbacks

    func streamBegun(_ id: Int32) {
        let stream: Stream
        if let used = free.popLast() {
            stream = used
        } else {
            stream = .allocate(capacity: 1)
            stream.initialize(to: ServerStream())
            streams.append(stream)
        }
        stream.pointee.id = id
        nghttp2_session_set_stream_user_data(session, id, stream)
    }

    func streamClosed(_ stream: Stream) {
        stream.pointee = ServerStream()
        free.append(stream)
    }

    func resetReceived() { resetsReceived += 1 }

    /// nghttp2 ends a connection with an error by itself when the client breaks the rules, and says why.
    func goAwaySent(_ frame: nghttp2_goaway) {
        if submittedGoAways > 0 {
            submittedGoAways -= 1
            return
        }
        let reason = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        violation = "\(HTTP2.name(ofError: frame.error_code)) \(String(decoding: reason, as: UTF8.self))"
    }
}
