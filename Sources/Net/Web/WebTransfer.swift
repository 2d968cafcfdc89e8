import CCurl
import Glibc

/// One request of a web client. Once submitted, confined to the client's thread, which keeps it while libcurl points at it.
final class WebTransfer: @unchecked Sendable {
    private(set) var handle: UnsafeMutableRawPointer?
    private let request: WebRequest
    private let policy: AddressPolicy
    private let options: WebClient.Options
    private let completion: @Sendable (Result<WebAnswer, WebError>) -> Void
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var body: [UInt8] = []
    /// Bytes of headers, interim answers' and trailers included.
    private var headerSize = 0
    private var isTooLarge = false

    /// libcurl keeps an answer's headers, and would take them without end.
    private static let maximumHeaders = 64 << 10
    private var wasForbidden = false

    init(
        _ request: WebRequest, policy: AddressPolicy, options: WebClient.Options,
        completion: @escaping @Sendable (Result<WebAnswer, WebError>) -> Void
    ) {
        self.request = request
        self.policy = policy
        self.options = options
        self.completion = completion
    }

    /// Makes the handle; nil when libcurl refuses the URL or an option.
    func prepare() -> UnsafeMutableRawPointer? {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        for (name, value) in request.headers { headers = curl_slist_append(headers, "\(name): \(value)") }
        let context = Unmanaged.passUnretained(self).toOpaque()
        let milliseconds = Int(options.timeout.nanoseconds / 1_000_000)
        let texts: [(CURLoption, String)] = [
            (CURLOPT_URL, request.url), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_PROXY, ""),
            (CURLOPT_USERAGENT, options.userAgent),
        ]
        let numbers: [(CURLoption, Int)] = [
            // An open connection to the host may be one that another request's policy has let through.
            (CURLOPT_FRESH_CONNECT, policy == .any ? 0 : 1),
            // Else the thread would wait, at the end of a transfer, for a name server that does not answer.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_NOSIGNAL, 1), (CURLOPT_TIMEOUT_MS, max(milliseconds, 1)),
            (CURLOPT_CONNECTTIMEOUT_MS, max(milliseconds, 1)), (CURLOPT_MAXFILESIZE, options.maximumBody),
        ]
        let isSet =
            texts.allSatisfy { hark_curl_set_text(handle, $0.0, $0.1) == CURLE_OK }
            && numbers.allSatisfy { hark_curl_set_number(handle, $0.0, $0.1) == CURLE_OK }
            && (options.caFile.map { hark_curl_set_text(handle, CURLOPT_CAINFO, $0) == CURLE_OK } ?? true)
            && hark_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK
            && hark_curl_set_pointer(handle, CURLOPT_PRIVATE, context) == CURLE_OK
            && hark_curl_set_writer(handle, receive, context) == CURLE_OK
            && hark_curl_set_header_reader(handle, receiveHeader, context) == CURLE_OK
            && hark_curl_set_opener(handle, openSocket, context) == CURLE_OK
            && setBody(handle)
        return isSet ? handle : nil
    }

    /// With a body it is a POST.
    private func setBody(_ handle: UnsafeMutableRawPointer) -> Bool {
        guard var body = request.body else { return true }
        // Without it libcurl asks first whether a long body is welcome, and waits for the answer.
        headers = curl_slist_append(headers, "Expect:")
        let size = body.count
        return hark_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK
            && hark_curl_set_number(handle, CURLOPT_POSTFIELDSIZE, size) == CURLE_OK
            // Copied at once.
            && body.withUnsafeMutableBytes {
                hark_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeMutableRawPointer(handle))
            } == CURLE_OK
    }

    /// Frees the handle, once the multi handle has let go of it.
    func release() {
        if let handle { curl_easy_cleanup(handle) }
        curl_slist_free_all(headers)
        (handle, headers) = (nil, nil)
    }

    func finish(_ result: Result<WebAnswer, WebError>) { completion(result) }

    func result(_ code: CURLcode) -> Result<WebAnswer, WebError> {
        switch code {
        case CURLE_OK: .success(WebAnswer(status: handle.map(hark_curl_status) ?? 0, body: body))
        case CURLE_OPERATION_TIMEDOUT: .failure(.timedOut)
        case CURLE_FILESIZE_EXCEEDED: .failure(.tooLarge)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .failure(.badURL)
        case _ where isTooLarge: .failure(.tooLarge)
        case CURLE_COULDNT_CONNECT where wasForbidden: .failure(.forbiddenAddress)
        default: .failure(.failed(String(cString: curl_easy_strerror(code))))
        }
    }

    fileprivate func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        isTooLarge = body.count + bytes.count > options.maximumBody
        if !isTooLarge { body.append(contentsOf: bytes) }
        return !isTooLarge
    }

    fileprivate func takeHeader(_ count: Int) -> Bool {
        headerSize += count
        if headerSize > Self.maximumHeaders { isTooLarge = true }
        return !isTooLarge
    }

    fileprivate func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard policy.allows(hark_curl_address(address)) else {
            wasForbidden = true
            return -1
        }
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        return socket(address.pointee.family, kind, address.pointee.protocol)
    }
}

extension WebTransfer: Hashable {
    static func == (a: WebTransfer, b: WebTransfer) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// libcurl's write function: whatever it returns but `size * count` ends the transfer.
private func receive(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let transfer = Unmanaged<WebTransfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

/// libcurl's function for a header's line: the same.
private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    return Unmanaged<WebTransfer>.fromOpaque(context).takeUnretainedValue().takeHeader(size * count) ? size * count : 0
}

/// libcurl's way to a socket. It is only bound to connect to the address that it shows here.
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return -1 }
    return Unmanaged<WebTransfer>.fromOpaque(context).takeUnretainedValue().open(address)
}
