import CCurl
import Crypto
import Glibc
import Synchronization

/// Makes requests over HTTP and HTTPS, GET and POST, many at a time, on one thread of its own. Thread-safe.
///
/// No redirect is followed, no proxy used, no cookie kept, no compression accepted; certificates are checked against
/// the system's roots. The policy is asked about the very address that a socket is about to connect to, so that a name
/// cannot show one address to the check and another to the connection.
public final class WebClient: Sendable {
    public struct Options: Sendable {
        /// From the first look-up to the last byte.
        public var timeout: Duration = .seconds(5)
        /// Bytes of a body.
        public var maximumBody = 64 << 10
        /// Requests under way at a time; a further one is refused as `.busy`.
        public var maximumRequests = 256
        public var userAgent = "hark"
        /// PEM file of roots to trust instead of the system's.
        public var caFile: String?

        public init() {}
    }

    private let worker: WebWorker
    private let thread: Mutex<pthread_t?>
    private let options: Options

    /// Throws `SystemError` when there are no threads or descriptors left.
    public init(_ options: Options = Options()) throws {
        self.options = options
        let worker = try WebWorker(limit: options.maximumRequests)
        self.worker = worker
        thread = Mutex(try OSThread.start(name: "web") { worker.run() })
    }

    deinit { stop() }

    /// The answer to `GET url`. Does not heed cancellation: its end is bounded by the timeout.
    public func get(
        _ url: String, accept: String = "application/json", policy: AddressPolicy
    ) async throws(WebError) -> WebAnswer {
        try await send(WebRequest(url: url, headers: [("Accept", accept)]), policy: policy)
    }

    /// The answer to any request, under the same conditions.
    public func send(_ request: WebRequest, policy: AddressPolicy) async throws(WebError) -> WebAnswer {
        let options = options
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<_, Never>) in
            worker.submit(
                WebTransfer(request, policy: policy, options: options) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    /// Requests that are under way.
    public var count: Int { worker.count }

    /// Fails what is under way, and returns when the thread has ended. Must not be called on that thread.
    public func stop() {
        worker.requestStop()
        thread.withLock { handle in
            if let thread = handle { pthread_join(thread, nil) }
            handle = nil
        }
    }
}

/// The client's thread and what it works on.
final class WebWorker: @unchecked Sendable {
    // `multi` is made before the thread starts and freed after it ends; of its calls only the wakeup is made elsewhere.
    private let multi: OpaquePointer
    private let limit: Int
    private let state = Mutex(State())
    /// Confined to the thread.
    private var running: Set<WebTransfer> = []

    private struct State {
        var submitted: [WebTransfer] = []
        /// Submitted or running.
        var count = 0
        var isStopping = false
    }

    private static let isPrepared: Bool = {
        OpenSSLLibrary.prepare()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    init(limit: Int) throws {
        guard Self.isPrepared, let multi = curl_multi_init() else {
            throw SystemError(call: "curl_multi_init", code: ENOMEM)
        }
        self.multi = OpaquePointer(multi)
        self.limit = limit
    }

    deinit { curl_multi_cleanup(UnsafeMutableRawPointer(multi)) }

    var count: Int { state.withLock { $0.count } }

    func submit(_ transfer: WebTransfer) {
        let refusal: WebError? = state.withLock { state in
            if state.isStopping { return .stopped }
            if state.count >= limit { return .busy }
            state.count += 1
            state.submitted.append(transfer)
            return nil
        }
        if let refusal { return transfer.finish(.failure(refusal)) }
        curl_multi_wakeup(UnsafeMutableRawPointer(multi))
    }

    func requestStop() {
        state.withLock { $0.isStopping = true }
        curl_multi_wakeup(UnsafeMutableRawPointer(multi))
    }

    // MARK: On the thread

    func run() {
        let multi = UnsafeMutableRawPointer(multi)
        while true {
            let (submitted, isStopping) = state.withLock { state in
                defer { state.submitted = [] }
                return (state.submitted, state.isStopping)
            }
            for transfer in submitted { start(transfer) }
            if isStopping { break }
            var active: Int32 = 0
            curl_multi_perform(multi, &active)
            settle()
            // Wakes for sockets, for libcurl's own timers and for `curl_multi_wakeup`.
            curl_multi_poll(multi, nil, 0, 60_000, nil)
        }
        for transfer in running { end(transfer, .failure(.stopped)) }
    }

    private func start(_ transfer: WebTransfer) {
        running.insert(transfer)
        guard let handle = transfer.prepare() else { return end(transfer, .failure(.badURL)) }
        let code = curl_multi_add_handle(UnsafeMutableRawPointer(multi), handle)
        if code != CURLM_OK { end(transfer, .failure(.failed("libcurl is out of memory"))) }
    }

    private func settle() {
        var code = CURLE_OK
        while let handle = hark_curl_next_ended(UnsafeMutableRawPointer(multi), &code) {
            guard let context = hark_curl_context(handle) else { continue }
            let transfer = Unmanaged<WebTransfer>.fromOpaque(context).takeUnretainedValue()
            end(transfer, transfer.result(code))
        }
    }

    private func end(_ transfer: WebTransfer, _ result: Result<WebAnswer, WebError>) {
        if let handle = transfer.handle { curl_multi_remove_handle(UnsafeMutableRawPointer(multi), handle) }
        transfer.release()
        running.remove(transfer)
        state.withLock { $0.count -= 1 }
        transfer.finish(result)
    }
}
