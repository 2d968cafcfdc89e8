import Glibc

/// The owner of a transport. Called on the loop.
protocol TransportOwner: AnyObject {
    /// Bytes may be written: the TLS handshake is done, or there is none to do.
    func transportOpened()
    /// The bytes are valid during the call only.
    func transportReceived(_ bytes: UnsafeRawBufferPointer)
    /// A socket that was full has taken all that waited for it.
    func transportDrained()
    /// The end, unless `close()` was called. The transport is closed already.
    func transportFailed(_ error: any Error)
}

/// A connected socket, in the clear or under TLS. Confined to its loop.
final class Transport: SocketHandler {
    private let descriptor: Int32
    private let tls: TLSEngine?
    private let worker: LoopWorker
    private unowned let owner: any TransportOwner
    /// Whether bytes may be written.
    private(set) var isOpen = false
    private(set) var isClosed = false
    private var isReading = true
    private var isWatched = false
    private var output = ByteBuffer(capacity: 32 * 1024)
    /// How many bytes the socket has taken so far.
    private(set) var sentBytes = 0
    /// True while bytes wait for the socket to take them.
    private(set) var isBlocked = false
    /// Why nothing can be written any more, while there may still be something to read.
    private var writeFailure: ConnectionError?

    /// Takes over `descriptor`, closing it in the end.
    init(_ descriptor: Int32, tls: TLSEngine?, on loop: EventLoop, owner: any TransportOwner) {
        self.descriptor = descriptor
        self.tls = tls
        self.worker = loop.worker
        self.owner = owner
        Socket.setNoDelay(descriptor)
    }

    deinit { if !isClosed { Glibc.close(descriptor) } }

    /// Begins to read, and to shake hands. May call the owner.
    func start() {
        do {
            try worker.watch(descriptor, for: interest, self)
            isWatched = true
            try advanceHandshake()
        } catch {
            fail(error)
        }
    }

    /// Sends as much as the socket takes, and keeps the rest.
    func write(_ bytes: UnsafeRawBufferPointer) {
        guard !isClosed else { return }
        do {
            if let tls {
                try tls.write(bytes)
                tls.takeOutput(into: &output)
            } else if let base = bytes.baseAddress {
                output.append(base, count: bytes.count)
            }
            try flush()
        } catch {
            fail(error)
        }
    }

    /// Says farewell if the socket takes it at once, and closes.
    func close() {
        guard !isClosed else { return }
        if let tls {
            tls.shutDown()
            tls.takeOutput(into: &output)
            try? flush()
        }
        release()
    }

    /// Closes without a word; with a reset, so that the peer cannot take it for an orderly end.
    func abort() {
        guard !isClosed else { return }
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        release()
    }

    /// Reads nothing any more: what the peer sends fills the buffers between us.
    func stopReading() {
        guard !isClosed else { return }
        isReading = false
        if isWatched { try? worker.rewatch(descriptor, for: interest) }
    }

    func ready(_ readiness: Readiness) {
        do {
            if readiness.contains(.writable), isBlocked {
                try flush()
                if !isBlocked, isOpen { owner.transportDrained() }
            }
            guard readiness.contains(.readable), !isClosed else { return }
            // Not asked for when not reading: then it is the socket's end, which is told of in any case.
            guard isReading else { throw ConnectionError.closedByPeer }
            try receive()
        } catch {
            fail(error)
        }
    }

    // MARK: Reading

    /// Reads once: what is left is reported again, after the loop's other sockets have had their turn. Answering a little
    /// at a time keeps both ends busy at once, too.
    private func receive() throws {
        let scratch = worker.cipherScratch
        let count = recv(descriptor, scratch.baseAddress, scratch.count, 0)
        let code = errno
        if count > 0 { return try take(UnsafeRawBufferPointer(start: scratch.baseAddress, count: count)) }
        if count < 0, code == EINTR || code == EAGAIN || code == EWOULDBLOCK { return }
        guard isOpen || tls == nil else {
            throw TLSError.handshake(count == 0 ? "the peer closed the connection" : SystemError.text(code))
        }
        throw count == 0 ? writeFailure ?? ConnectionError.closedByPeer : ConnectionError.lost(SystemError.text(code))
    }

    private func take(_ bytes: UnsafeRawBufferPointer) throws {
        guard let tls else { return owner.transportReceived(bytes) }
        tls.receive(bytes)
        try advanceHandshake()
        guard isOpen else { return }
        let plain = worker.plainScratch
        reading: while !isClosed {
            switch try tls.read(into: plain) {
            case .bytes(let count): owner.transportReceived(UnsafeRawBufferPointer(rebasing: plain[..<count]))
            case .empty: break reading
            case .closed: throw ConnectionError.closedByPeer
            }
        }
        // Reading may produce answers of TLS's own, such as a key update.
        if !isClosed {
            tls.takeOutput(into: &output)
            try flush()
        }
    }

    private func advanceHandshake() throws {
        guard !isOpen else { return }
        if let tls {
            defer { tls.takeOutput(into: &output) }
            isOpen = try tls.handshake()
        } else {
            isOpen = true
        }
        try flush()
        if isOpen { owner.transportOpened() }
    }

    // MARK: Writing

    private var interest: Readiness {
        var interest: Readiness = isReading ? .readable : []
        if isBlocked { interest.insert(.writable) }
        return interest
    }

    private func flush() throws {
        guard !isClosed else { return }
        if writeFailure != nil { output.removeAll() }
        while !output.isEmpty {
            let bytes = output.bytes
            let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 {
                sentBytes += count
                output.consume(count)
                continue
            }
            let code = errno
            if code == EINTR { continue }
            if code == EAGAIN || code == EWOULDBLOCK { break }
            // Answers and a GOAWAY may lie unread before the end, which the next read will find.
            let failure = ConnectionError.lost(SystemError.text(code))
            guard isReading else { throw failure }
            writeFailure = failure
            output.removeAll()
        }
        guard isBlocked == output.isEmpty else { return }
        isBlocked = !output.isEmpty
        guard isWatched else { return }
        try worker.rewatch(descriptor, for: interest)
    }

    // MARK: The end

    private func fail(_ error: any Error) {
        guard !isClosed else { return }
        if let tls {
            // The alert that says why; the peer may like to know.
            tls.takeOutput(into: &output)
            try? flush()
        }
        release()
        owner.transportFailed(error)
    }

    private func release() {
        isClosed = true
        if isWatched { worker.unwatch(descriptor) }
        Glibc.close(descriptor)
    }
}
