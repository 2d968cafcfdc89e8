import CNghttp2

// What nghttp2 calls while a server session takes bytes in or gives frames out. `user` is the session, which owns nghttp2's
// and so outlives every call.

private func withSession<Result>(
    _ user: UnsafeMutableRawPointer?, _ body: (HTTP2ServerSession) -> Result, otherwise: Result
) -> Result {
    guard let user else { return otherwise }
    return Unmanaged<HTTP2ServerSession>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
}

private func stream(_ session: OpaquePointer?, _ id: Int32) -> HTTP2ServerSession.Stream? {
    nghttp2_session_get_stream_user_data(session, id)?.assumingMemoryBound(to: ServerStream.self)
}

func serverBeginHeaders(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let id = frame?.pointee.hd.stream_id, stream(session, id) == nil else { return 0 }
    withSession(user, { $0.streamBegun(id) }, otherwise: ())
    return 0
}

func serverHeader(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameLength: Int,
    value: UnsafePointer<UInt8>?, valueLength: Int, flags: UInt8, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let stream = stream(session, frame.pointee.hd.stream_id) else { return 0 }
    stream.pointee.headerBytes += nameLength + valueLength + 32
    guard stream.pointee.headerBytes <= HTTP2.maximumHeaderBytes else {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue  // which resets the stream
    }
    withSession(
        user,
        { session in
            let field = session.memory.field(
                at: stream.pointee.headers.count, name: UnsafeBufferPointer(start: name, count: nameLength),
                value: UnsafeBufferPointer(start: value, count: valueLength))
            stream.pointee.headers.append(field)
        }, otherwise: ())
    return 0
}

func serverData(
    session: OpaquePointer?, flags: UInt8, id: Int32, data: UnsafePointer<UInt8>?, length: Int,
    user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let stream = stream(session, id), !stream.pointee.isTooLarge else { return 0 }
    withSession(
        user,
        { session in
            if stream.pointee.body.count + length > session.maximumBody {
                stream.pointee.isTooLarge = true
                stream.pointee.body = []
                session.arrived.append(id)
            } else {
                stream.pointee.body.append(contentsOf: UnsafeBufferPointer(start: data, count: length))
            }
        }, otherwise: ())
    return 0
}

func serverFrameReceived(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let head = frame?.pointee.hd else { return 0 }
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
        guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let stream = stream(session, head.stream_id),
            !stream.pointee.isTooLarge
        else { return 0 }
        withSession(user, { $0.arrived.append(head.stream_id) }, otherwise: ())
    case NGHTTP2_RST_STREAM.rawValue: withSession(user, { $0.resetReceived() }, otherwise: ())
    default: break
    }
    return 0
}

func serverFrameSent(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, UInt32(frame.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue else { return 0 }
    withSession(user, { $0.goAwaySent(frame.pointee.goaway) }, otherwise: ())
    return 0
}

func serverStreamClosed(
    session: OpaquePointer?, id: Int32, errorCode: UInt32, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let stream = stream(session, id) else { return 0 }
    withSession(user, { $0.streamClosed(stream) }, otherwise: ())
    return 0
}

func serverReadBody(
    session: OpaquePointer?, id: Int32, buffer: UnsafeMutablePointer<UInt8>?, capacity: Int,
    flags: UnsafeMutablePointer<UInt32>?, source: UnsafeMutablePointer<nghttp2_data_source>?,
    user: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer, let flags, let stream = source?.pointee.ptr?.assumingMemoryBound(to: ServerStream.self) else {
        return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
    }
    let start = stream.pointee.answerOffset
    let count = min(capacity, stream.pointee.dataFrameSize, stream.pointee.answer.count - start)
    stream.pointee.answer.withUnsafeBufferPointer { answer in
        if let base = answer.baseAddress { buffer.update(from: base + start, count: count) }
    }
    stream.pointee.answerOffset = start + count
    if start + count == stream.pointee.answer.count { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
