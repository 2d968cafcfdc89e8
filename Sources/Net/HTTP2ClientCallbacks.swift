import CNghttp2

// What nghttp2 calls while a client session takes bytes in or gives frames out. `user` is the session, which owns nghttp2's
// and so outlives every call.

private func withSession<Result>(
    _ user: UnsafeMutableRawPointer?, _ body: (HTTP2ClientSession) -> Result, otherwise: Result
) -> Result {
    guard let user else { return otherwise }
    return Unmanaged<HTTP2ClientSession>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
}

private func stream(_ session: OpaquePointer?, _ id: Int32) -> HTTP2ClientSession.Stream? {
    nghttp2_session_get_stream_user_data(session, id)?.assumingMemoryBound(to: ClientStream.self)
}

func clientBeginHeaders(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let stream = stream(session, frame.pointee.hd.stream_id) else { return 0 }
    if stream.pointee.status >= 200 {
        stream.pointee.isInTrailers = true
    } else {
        // The first headers, or those after an interim 1xx answer.
        stream.pointee.status = 0
        stream.pointee.answerHeaders.removeAll(keepingCapacity: true)
    }
    return 0
}

func clientHeader(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameLength: Int,
    value: UnsafePointer<UInt8>?, valueLength: Int, flags: UInt8, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame, let stream = stream(session, frame.pointee.hd.stream_id), !stream.pointee.isInTrailers else {
        return 0
    }
    stream.pointee.answerHeaderBytes += nameLength + valueLength + 32
    guard stream.pointee.answerHeaderBytes <= HTTP2.maximumHeaderBytes else {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue  // which resets the stream
    }
    let name = UnsafeBufferPointer(start: name, count: nameLength)
    let value = UnsafeBufferPointer(start: value, count: valueLength)
    if name.first == UInt8(ascii: ":") {
        // nghttp2 lets nothing but :status through, once, in front.
        stream.pointee.status = HTTP2.status(value) ?? 0
        return 0
    }
    withSession(
        user,
        { session in
            if stream.pointee.status == 200, !session.keepsFieldsOfSuccess { return }
            let position = stream.pointee.answerHeaders.count
            stream.pointee.answerHeaders.append(session.memory.field(at: position, name: name, value: value))
        }, otherwise: ())
    return 0
}

func clientData(
    session: OpaquePointer?, flags: UInt8, id: Int32, data: UnsafePointer<UInt8>?, length: Int,
    user: UnsafeMutableRawPointer?
) -> Int32 {
    // nghttp2 gives the window back as soon as this returns.
    guard let stream = stream(session, id) else { return 0 }
    let taken = min(length, HTTP2ClientConnection.maximumBody - stream.pointee.answerBody.count)
    stream.pointee.answerBody.append(contentsOf: UnsafeBufferPointer(start: data, count: taken))
    return 0
}

func clientFrameReceived(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame else { return 0 }
    let head = frame.pointee.hd
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
        guard let stream = stream(session, head.stream_id), stream.pointee.status >= 200 else { return 0 }
        stream.pointee.hasStatus = true
        if head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 { stream.pointee.isAnswered = true }
    case NGHTTP2_SETTINGS.rawValue where head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0:
        withSession(user, { $0.settingsReceived() }, otherwise: ())
    case NGHTTP2_PING.rawValue where head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0:
        withSession(user, { $0.pingAnswered() }, otherwise: ())
    case NGHTTP2_GOAWAY.rawValue:
        withSession(user, { $0.goAwayReceived(frame.pointee.goaway) }, otherwise: ())
    default: break
    }
    return 0
}

func clientFrameSent(
    session: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame else { return 0 }
    switch UInt32(frame.pointee.hd.type) {
    case NGHTTP2_HEADERS.rawValue: withSession(user, { $0.headersSent(frame.pointee.hd.stream_id) }, otherwise: ())
    case NGHTTP2_GOAWAY.rawValue: withSession(user, { $0.goAwaySent(frame.pointee.goaway) }, otherwise: ())
    default: break
    }
    return 0
}

func clientStreamClosed(
    session: OpaquePointer?, id: Int32, errorCode: UInt32, user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let stream = stream(session, id) else { return 0 }
    withSession(user, { $0.streamClosed(stream, errorCode: errorCode) }, otherwise: ())
    return 0
}

func clientReadBody(
    session: OpaquePointer?, id: Int32, buffer: UnsafeMutablePointer<UInt8>?, capacity: Int,
    flags: UnsafeMutablePointer<UInt32>?, source: UnsafeMutablePointer<nghttp2_data_source>?,
    user: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer, let flags, let stream = source?.pointee.ptr?.assumingMemoryBound(to: ClientStream.self) else {
        return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
    }
    let start = stream.pointee.bodyOffset
    let count = min(capacity, stream.pointee.body.count - start)
    stream.pointee.body.withUnsafeBufferPointer { body in
        if let base = body.baseAddress { buffer.update(from: base + start, count: count) }
    }
    stream.pointee.bodyOffset = start + count
    withSession(user, { $0.bodySent(count) }, otherwise: ())
    if start + count == stream.pointee.body.count { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
