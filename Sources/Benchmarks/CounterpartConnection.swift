import CNghttp2
import COpenSSL
import Glibc

/// One client of the counterpart, on a thread of its own.
final class CounterpartConnection {
    private let descriptor: Int32
    private let tls: OpaquePointer
    private let options: PushCounterpart.Options
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    private var filled = 0
    private var output: [UInt8] = []
    private var sawPreface = false
    private var consumed = 0
    private var requests = 0
    private var open = 0
    private var mostOpen = 0
    /// Answers that wait for their time; the earliest first, as all wait equally long.
    private var delayed: [(due: UInt64, stream: UInt32)] = []
    private var nextDelayed = 0
    private var stamps = StampRecord()
    /// Decodes header fields, if that is asked for.
    private var inflater: OpaquePointer?
    private var refused: Set<UInt32> = []

    /// Takes over `descriptor`. Shakes hands; nil when that fails.
    init?(_ descriptor: Int32, _ context: OpaquePointer, _ options: PushCounterpart.Options) {
        guard let tls = SSL_new(context) else { return nil }
        self.descriptor = descriptor
        self.tls = tls
        self.options = options
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        SSL_set_fd(tls, descriptor)
        if options.decodes { nghttp2_hd_inflate_new(&inflater) }
        guard SSL_accept(tls) == 1 else { return nil }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit {
        SSL_free(tls)
        if let inflater { nghttp2_hd_inflate_del(inflater) }
        close(descriptor)
        input.deallocate()
    }

    /// Until the client has closed.
    func serve() {
        greet()
        while flush(), receive() { answerDue() }
        say("connection requests \(requests) streams \(mostOpen) \(stamps.report)")
    }

    private func greet() {
        frame(type: 4, flags: 0, stream: 0, length: 6)
        output += [0, 3]
        append(options.streams)
        openWindow(by: options.window - 65_535)
    }

    // MARK: Bytes

    /// Waits for bytes, or for an answer's time, and takes what there is. False at the end.
    private func receive() -> Bool {
        if SSL_pending(tls) == 0 {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if Glibc.poll(&poll, 1, patience) < 0, errno != EINTR { return false }
            if poll.revents == 0 { return true }
        }
        ERR_clear_error()
        let room = min(input.count - filled, 64 << 10)
        let count = SSL_read(tls, input.baseAddress.map { $0 + filled }, Int32(room))
        guard count > 0 else { return SSL_get_error(tls, count) == SSL_ERROR_WANT_READ }
        filled += Int(count)
        return take()
    }

    private var patience: Int32 {
        guard nextDelayed < delayed.count else { return -1 }
        let now = machineNanoseconds()
        let due = delayed[nextDelayed].due
        return due <= now ? 0 : Int32(clamping: (due - now + 999_999) / 1_000_000)
    }

    private func flush() -> Bool {
        var start = 0
        while start < output.count {
            ERR_clear_error()
            let count = output.withUnsafeBytes { bytes in
                SSL_write(tls, bytes.baseAddress.map { $0 + start }, Int32(bytes.count - start))
            }
            if count > 0 {
                start += Int(count)
                continue
            }
            guard SSL_get_error(tls, count) == SSL_ERROR_WANT_WRITE else { return false }
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if Glibc.poll(&poll, 1, -1) < 0, errno != EINTR { return false }
        }
        output.removeAll(keepingCapacity: true)
        return true
    }

    // MARK: Frames

    /// Takes the whole frames out of the input. False when the client breaks the rules.
    private func take() -> Bool {
        var start = 0
        if !sawPreface {
            guard filled >= 24 else { return true }
            sawPreface = true
            start = 24
        }
        while filled - start >= 9 {
            let length = Int(input[start]) << 16 | Int(input[start + 1]) << 8 | Int(input[start + 2])
            guard length <= 16_384 else { return false }
            guard filled - start >= 9 + length else { break }
            take(type: input[start + 3], flags: input[start + 4], at: start + 5, length: length)
            start += 9 + length
        }
        filled -= start
        if start > 0, filled > 0, let base = input.baseAddress { memmove(base, base + start, filled) }
        return true
    }

    private func take(type: UInt8, flags: UInt8, at start: Int, length: Int) {
        let payload = UnsafeRawBufferPointer(rebasing: input[(start + 4)..<(start + 4 + length)])
        switch type {
        case 0:
            consumed += length
            if consumed >= options.window / 2 {
                openWindow(by: consumed)
                consumed = 0
            }
            if options.readsStamps { stamps.note(payload) }
            if flags & 1 != 0 { requestEnded(stream(at: start)) }
        case 1:
            open += 1
            mostOpen = max(mostOpen, open)
            if options.decodes, !isPush(payload, flags) { refused.insert(stream(at: start)) }
            if flags & 1 != 0 { requestEnded(stream(at: start)) }
        case 4 where flags & 1 == 0: frame(type: 4, flags: 1, stream: 0, length: 0)
        case 6 where flags & 1 == 0:
            frame(type: 6, flags: 1, stream: 0, length: length)
            output += payload
        default: break
        }
    }

    private func stream(at start: Int) -> UInt32 {
        UInt32(input[start] & 0x7F) << 24 | UInt32(input[start + 1]) << 16 | UInt32(input[start + 2]) << 8
            | UInt32(input[start + 3])
    }

    private func requestEnded(_ stream: UInt32) {
        requests += 1
        if options.delay == 0 { return answer(stream) }
        delayed.append((machineNanoseconds() + options.delay * 1_000_000, stream))
    }

    private func answerDue() {
        guard nextDelayed < delayed.count else { return }
        let now = machineNanoseconds()
        while nextDelayed < delayed.count, delayed[nextDelayed].due <= now {
            answer(delayed[nextDelayed].stream)
            nextDelayed += 1
        }
        if nextDelayed * 2 > delayed.count {
            delayed.removeFirst(nextDelayed)
            nextDelayed = 0
        }
    }

    private func answer(_ stream: UInt32) {
        open -= 1
        if refused.remove(stream) != nil {
            frame(type: 1, flags: 5, stream: stream, length: 1)
            return output.append(0x8C)  // `:status: 400`
        }
        frame(type: 1, flags: 5, stream: stream, length: Self.answerFields.count)
        output += Self.answerFields
    }

    /// Decodes a HEADERS frame, and looks for what Apple asks for.
    private func isPush(_ payload: UnsafeRawBufferPointer, _ flags: UInt8) -> Bool {
        var block = payload[...]
        if flags & 0x08 != 0 { block = block.dropFirst().dropLast(Int(payload.first ?? 0)) }
        if flags & 0x20 != 0 { block = block.dropFirst(5) }
        guard flags & 4 != 0 else { return false }
        var rest = UnsafeRawBufferPointer(rebasing: block).bindMemory(to: UInt8.self)
        var found = 0
        while true {
            var field = nghttp2_nv()
            var state: Int32 = 0
            let used = nghttp2_hd_inflate_hd2(inflater, &field, &state, rest.baseAddress, rest.count, 1)
            guard used >= 0 else { return false }
            rest = UnsafeBufferPointer(rebasing: rest[used...])
            if state & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0, Self.isWanted(field) { found += 1 }
            if state & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return found == 5
    }

    private static func isWanted(_ field: nghttp2_nv) -> Bool {
        func begins(with prefix: StaticString) -> Bool {
            field.valuelen > prefix.utf8CodeUnitCount
                && memcmp(field.value, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
        }
        return switch field.namelen {
        case 5: field.name[1] == UInt8(ascii: "p") && begins(with: "/3/device/")  // :path
        case 7: field.name[0] == UInt8(ascii: ":") && begins(with: "POS")  // :method
        case 13: field.name[0] == UInt8(ascii: "a") && field.name[1] == UInt8(ascii: "u") && begins(with: "bearer ")
        case 10: field.name[5] == UInt8(ascii: "t") && field.valuelen > 0  // apns-topic
        case 14: field.name[5] == UInt8(ascii: "p") && field.valuelen > 0  // apns-push-type
        default: false
        }
    }

    /// `:status: 200` from HPACK's static table, and `apns-id` as a literal without indexing (RFC 7541 §6.2.2).
    private static let answerFields: [UInt8] =
        [0x88, 0, 7] + Array("apns-id".utf8) + [36] + Array("9f4d1c62-70a8-4c1e-8d5f-1b2a3c4d5e6f".utf8)

    private func openWindow(by count: Int) {
        guard count > 0 else { return }
        frame(type: 8, flags: 0, stream: 0, length: 4)
        append(UInt32(count))
    }

    private func frame(type: UInt8, flags: UInt8, stream: UInt32, length: Int) {
        append(UInt32(length) << 8 | UInt32(type))
        output.append(flags)
        append(stream)
    }

    private func append(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { output += $0 }
    }
}
