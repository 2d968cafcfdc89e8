import CMicrohttpd
import CMicrohttpdAnswers
import Synchronization

/// One request and its answer, from the request line to the last byte. Made and freed by libmicrohttpd's callbacks on
/// the thread of its connection; the answer may come from any thread, once.
final class HTTPExchange: @unchecked Sendable {
    // What is mutable and not in the mutex is confined to the connection's thread.
    private enum Step { case headers, body, handling, answered }

    private enum Answer {
        /// Nobody has asked for it yet.
        case none
        /// It is being found, and the connection is suspended.
        case awaited(Task<Void, Never>?)
        case ready(HTTPResponse)
        case taken
    }

    private let server: HTTPDaemon
    private let connection: HTTPConnection
    private let handle: OpaquePointer
    private let target: String
    private var step = Step.headers
    private var headers = HTTPHeaders()
    private var verb = ""
    private var body: [UInt8] = []
    private var received = 0
    private let answer = Mutex(Answer.none)

    /// How much of a body that is too long is read on, so that its sender gets to see the refusal.
    private static let drainLimit = 1 << 20

    init(target: String, handle: OpaquePointer, connection: HTTPConnection, server: HTTPDaemon) {
        self.target = target
        self.handle = handle
        self.connection = connection
        self.server = server
        connection.enter(.receiving)
    }

    // MARK: On the connection's thread

    /// What libmicrohttpd calls when headers, a part of the body, or its end has come, and after resuming.
    func proceed(verb: UnsafePointer<CChar>, part: UnsafePointer<CChar>?, size: UnsafeMutablePointer<Int>) -> MHD_Result
    {
        switch step {
        case .headers:
            step = .body
            self.verb = String(cString: verb)
            readHeaders()
            if let refusal = server.refusal(of: headers, target: target, client: client) { return send(refusal) }
            return hark_mhd_yes()
        case .body where size.pointee > 0: return take(part, size)
        case .body: return answerWhole()
        case .handling: return sendAnswer()
        case .answered:
            size.pointee = 0
            return hark_mhd_yes()
        }
    }

    private lazy var client: ClientAddress = {
        guard server.limits.trustsLocalProxy, connection.address.isLoopback,
            let forwarded = headers["x-forwarded-for"],
            let last = forwarded.split(separator: ",").last
        else { return connection.address }
        return ClientAddress(last.trimmed) ?? connection.address
    }()

    private func readHeaders() {
        withUnsafeMutablePointer(to: &headers) { hark_mhd_each_header(handle, collectHeader, $0) }
    }

    private func take(_ part: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>) -> MHD_Result {
        let limit = server.limits.maximumBody
        received += size.pointee
        if received > limit + Self.drainLimit { return hark_mhd_no() }
        if received <= limit, let part {
            body.append(contentsOf: UnsafeRawBufferPointer(start: part, count: size.pointee))
        } else {
            body = []
        }
        size.pointee = 0
        return hark_mhd_yes()
    }

    private func answerWhole() -> MHD_Result {
        if received > server.limits.maximumBody { return send(server.refusal(.payloadTooLarge)) }
        let request = HTTPRequest(verb: verb, target: target, headers: headers, body: body, client: client)
        switch server.handler(request) {
        case .now(let response): return send(response)
        case .later(let work):
            let isBegun = server.ifOpen {
                step = .handling
                answer.withLock { $0 = .awaited(nil) }
                connection.enter(.handling, exchange: self)
                MHD_suspend_connection(handle)
            }
            guard isBegun else { return send(server.refusal(.stopping)) }
            let task = Task { self.complete(await work()) }
            answer.withLock { if case .awaited = $0 { $0 = .awaited(task) } }
            return hark_mhd_yes()
        }
    }

    private func sendAnswer() -> MHD_Result {
        let response = answer.withLock { answer -> HTTPResponse? in
            guard case .ready(let response) = answer else { return nil }
            answer = .taken
            return response
        }
        // Called again without an answer: nothing to do yet.
        return response.map(send) ?? hark_mhd_yes()
    }

    private func send(_ response: HTTPResponse) -> MHD_Result {
        step = .answered
        connection.enter(.sending)
        let made = response.body.withUnsafeBytes { hark_mhd_response($0.baseAddress, $0.count) }
        guard let made else { return hark_mhd_no() }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers { _ = MHD_add_response_header(made, name, value) }
        if server.isStopping { _ = MHD_add_response_header(made, "Connection", "close") }
        return hark_mhd_queue(handle, UInt32(response.status), made)
    }

    /// The last byte of the answer is sent, or the connection lost.
    func completed() {
        answer.withLock { $0 = .taken }
        connection.enter(.awaiting)
    }

    // MARK: On any thread

    /// The answer has been found. A second one is dropped.
    func complete(_ response: HTTPResponse) {
        let isFirst = answer.withLock { answer in
            guard case .awaited = answer else { return false }
            answer = .ready(response)
            return true
        }
        if isFirst { MHD_resume_connection(handle) }
    }

    /// Answers in the place of a handler that has not, and cancels it.
    func giveUp(_ error: XRPCError) {
        let task = answer.withLock { answer -> Task<Void, Never>? in
            if case .awaited(let task) = answer { task } else { nil }
        }
        complete(server.refusal(error))
        task?.cancel()
    }
}

private func collectHeader(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ value: UnsafePointer<CChar>?
) -> MHD_Result {
    guard let context, let name else { return hark_mhd_yes() }
    context.assumingMemoryBound(to: HTTPHeaders.self).pointee
        .append(String(cString: name), value.map { String(cString: $0) } ?? "")
    return hark_mhd_yes()
}

extension Substring {
    /// Without the spaces around it.
    var trimmed: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
