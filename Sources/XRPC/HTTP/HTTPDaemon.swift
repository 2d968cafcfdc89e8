import CMicrohttpd
import Dispatch
import Glibc
import Synchronization

/// libmicrohttpd at work for an `HTTPServer`, with what its callbacks need. Thread-safe.
///
/// It keeps itself until it has been stopped, so that its last reference is never let go on one of its own threads,
/// which could not join itself.
final class HTTPDaemon: Sendable {
    let handler: HTTPServer.Handler
    let limits: HTTPLimits
    /// What a refusal looks like on the wire.
    private let refusals: @Sendable (XRPCError) -> HTTPResponse
    private let table: ConnectionTable
    private let rates: RateLimiter?
    private let running = Mutex<Running?>(nil)
    private let stopping = Atomic(false)
    /// False once no connection may be suspended any more.
    private let isOpen = Mutex(true)
    /// Where it listens; the port is the one that it got.
    let port: UInt16

    /// Threads of libmicrohttpd, each with connections of its own.
    private struct Threads: @unchecked Sendable {  // Handles whose functions are thread-safe until they are stopped.
        var handles: [OpaquePointer] = []

        /// False when the socket could not be taken: it is closed then.
        func take(_ client: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
            MHD_add_connection(handles[Int(client) % handles.count], client, address, length) == hark_mhd_yes()
        }

        func stop() {
            for handle in handles { MHD_stop_daemon(handle) }
        }
    }

    private struct Running {
        let threads: Threads
        let acceptor: Acceptor
        let sweeper: any DispatchSourceTimer
    }

    /// Listens and serves at once.
    init(
        listen: String, limits: HTTPLimits, refusals: @escaping @Sendable (XRPCError) -> HTTPResponse,
        handler: @escaping HTTPServer.Handler
    ) throws(ServerError) {
        let limits = Self.withinDescriptors(limits)
        let socket = try ListeningSocket(listen)
        self.handler = handler
        self.refusals = refusals
        self.limits = limits
        port = socket.port
        table = ConnectionTable(limits)
        rates = RateLimiter(limits)
        var options = hark_mhd_options()
        options.idle_seconds = 120
        options.connection_memory = 2 * (limits.maximumHeaders + limits.maximumTarget)
        options.access = proceed
        options.completed = completed
        options.connection = connectionChanged
        options.request_line = begin
        // Retained below, until it has been stopped.
        options.context = Unmanaged.passUnretained(self).toOpaque()
        var threads = Threads()
        for _ in 0..<max(limits.threads, 1) {
            guard let handle = hark_mhd_start(&options) else {
                let reason = String(cString: strerror(errno))
                threads.stop()
                close(socket.descriptor)
                throw ServerError("cannot start the HTTP server: \(reason)")
            }
            threads.handles.append(handle)
        }
        _ = Unmanaged.passRetained(self)
        let acceptor = Acceptor(socket) { [threads, table] client, address, length in
            let connection = HTTPConnection(address: ClientAddress(address), descriptor: client)
            table.add(connection)
            if !threads.take(client, address, length) { table.remove(connection) }
            return !table.isCrowded
        }
        running.withLock {
            $0 = Running(threads: threads, acceptor: acceptor, sweeper: Self.sweeper(table))
        }
    }

    /// Connections that are open.
    var connectionCount: Int { table.count }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    private static func sweeper(_ table: ConnectionTable) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + .milliseconds(250), repeating: .milliseconds(250))
        timer.setEventHandler { table.sweep(now: .now) }
        timer.resume()
        return timer
    }

    /// Raises the process's limit of descriptors as far as needed and allowed, and takes fewer connections otherwise.
    private static func withinDescriptors(_ limits: HTTPLimits) -> HTTPLimits {
        var limits = limits
        let reserve = 512
        let wanted = UInt(ConnectionTable.most(limits) + reserve)
        var allowed = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &allowed) == 0 else { return limits }
        if allowed.rlim_cur < wanted {
            allowed.rlim_cur = min(wanted, allowed.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &allowed)
        }
        if allowed.rlim_cur < wanted {
            limits.maximumConnections = max(16, (Int(allowed.rlim_cur) - reserve - 64) * 8 / 9)
        }
        return limits
    }

    // MARK: Refusing

    func refusal(_ error: XRPCError) -> HTTPResponse { refusals(error) }

    /// Whether a request is refused for its headers, before its body is read.
    func refusal(of headers: HTTPHeaders, target: String, client: ClientAddress) -> HTTPResponse? {
        if let seconds = rates?.secondsToWait(client, now: .now) { return refusals(.rateLimited(seconds: seconds)) }
        if isStopping { return refusals(.stopping) }
        if target.utf8.count > limits.maximumTarget {
            return refusals(XRPCError(414, "InvalidRequest", "the target is too long"))
        }
        if headers.size > limits.maximumHeaders {
            return refusals(XRPCError(431, "InvalidRequest", "the headers are too long"))
        }
        // What proxies before this server may have read in another way.
        let isAmbiguous =
            ["host", "content-length", "content-type", "authorization", "transfer-encoding"]
            .contains { headers.occurrences(of: $0) > 1 }
            || headers["content-length"] != nil && headers["transfer-encoding"] != nil
        if isAmbiguous { return refusals(.invalidRequest("a header stands twice, or contradicts another")) }
        if let length = headers["content-length"].flatMap({ Int($0) }), length > limits.maximumBody * 4 {
            return refusals(.payloadTooLarge)
        }
        return nil
    }

    // MARK: Stopping

    /// Takes no new request, lets those that are being answered finish, and returns when all threads have ended.
    /// - Parameter deadline: after which what is unanswered is told so.
    func stop(deadline: Duration) async {
        guard !stopping.exchange(true, ordering: .sequentiallyConsistent) else { return }
        await withCheckedContinuation { continuation in closeSocket { continuation.resume() } }
        table.close()
        await answersAreTaken(within: deadline)
        answerAll()
        await answersAreTaken(within: Self.lastAnswersDeadline)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.end()
                continuation.resume()
            }
        }
    }

    /// Ends without waiting for anything. Any thread; never blocks.
    func abandon() {
        stopping.store(true, ordering: .relaxed)
        closeSocket { self.end() }
    }

    /// How long those that are told that the server stops may take to hear it.
    private static let lastAnswersDeadline: Duration = .milliseconds(300)

    /// Accepts nobody any more; calls `then` on another thread.
    private func closeSocket(then: @escaping @Sendable () -> Void) {
        let acceptor = running.withLock { $0?.acceptor }
        if let acceptor { acceptor.close(then: then) } else { DispatchQueue.global().async(execute: then) }
    }

    /// Returns when nothing is being answered, or at the deadline.
    private func answersAreTaken(within deadline: Duration) async {
        let limit = ContinuousClock.now + deadline
        while table.busyCount > 0, ContinuousClock.now < limit {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Answers what is unanswered: a connection that is suspended when its thread is stopped is the end of the process.
    private func answerAll() {
        isOpen.withLock { $0 = false }
        for exchange in table.exchanges { exchange.giveUp(.stopping) }
    }

    /// Joins the threads, once the socket is closed: not to be called on one of them.
    private func end() {
        answerAll()
        let ended = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let ended else { return }
        ended.sweeper.cancel()
        ended.threads.stop()
        Unmanaged.passUnretained(self).release()
    }

    /// Suspends a connection, unless the server has come to its end; returns whether it did.
    func ifOpen(_ suspend: () -> Void) -> Bool {
        isOpen.withLock { isOpen in
            if isOpen { suspend() }
            return isOpen
        }
    }

    // MARK: Connections

    fileprivate func opened(_ handle: OpaquePointer) -> HTTPConnection? {
        table.begin(descriptor: hark_mhd_socket(handle))
    }

    fileprivate func closed(_ connection: HTTPConnection) { table.remove(connection) }
}

// MARK: Callbacks, on the threads of libmicrohttpd

private func daemon(_ context: UnsafeMutableRawPointer?) -> HTTPDaemon? {
    context.map { Unmanaged<HTTPDaemon>.fromOpaque($0).takeUnretainedValue() }
}

/// A connection was accepted, or is about to be closed: its object lives in between.
private func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let daemon = daemon(context), let handle, let socketContext else { return }
    if hark_mhd_has_started(code) != 0 {
        socketContext.pointee = daemon.opened(handle).map { Unmanaged.passRetained($0).toOpaque() }
    } else if let connection = socketContext.pointee {
        daemon.closed(Unmanaged<HTTPConnection>.fromOpaque(connection).takeRetainedValue())
        socketContext.pointee = nil
    }
}

/// A request line has come: the exchange's object lives from now to its completion.
private func begin(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let daemon = daemon(context), let target, let handle,
        let connection = hark_mhd_connection_context(handle)
    else { return nil }
    let exchange = HTTPExchange(
        target: String(cString: target), handle: handle,
        connection: Unmanaged<HTTPConnection>.fromOpaque(connection).takeUnretainedValue(), server: daemon)
    return Unmanaged.passRetained(exchange).toOpaque()
}

private func proceed(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ verb: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ part: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let exchange = exchange?.pointee, let verb, let size else { return hark_mhd_no() }
    return Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue()
        .proceed(verb: verb, part: part, size: size)
}

private func completed(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    guard let pointer = exchange?.pointee else { return }
    Unmanaged<HTTPExchange>.fromOpaque(pointer).takeRetainedValue().completed()
    exchange?.pointee = nil
}
