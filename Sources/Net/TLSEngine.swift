import COpenSSL
import Glibc

/// One end of a TLS connection without a socket: ciphertext in and out on one side, plaintext on the other.
///
/// Not safe for use by two threads at once.
final class TLSEngine {
    enum Read: Equatable {
        case bytes(Int)
        /// Nothing more until more ciphertext comes.
        case empty
        /// The peer has said that it will send no more.
        case closed
    }

    private let ssl: OpaquePointer
    /// Ciphertext from the peer; owned by `ssl`, as is `output`.
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// The host that a client wants to reach; nil at a server.
    private let host: String?
    private(set) var isEstablished = false

    /// A client of `host`, whose certificate must be for that name or IP address.
    convenience init(client context: TLSContext, host: String) throws {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        try self.init(context, host: name)
        let parameters = SSL_get0_param(ssl)
        if TLSEngine.isAddress(name) {
            X509_VERIFY_PARAM_set1_ip_asc(parameters, name)
        } else {
            X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1,
                hark_set_server_name(ssl, name) == 1
            else { throw TLSError.configuration("\(host) cannot be a host's name") }
        }
        SSL_set_connect_state(ssl)
    }

    convenience init(server context: TLSContext) throws {
        try self.init(context, host: nil)
        SSL_set_accept_state(ssl)
    }

    private init(_ context: TLSContext, host: String?) throws {
        ERR_clear_error()
        guard let ssl = SSL_new(context.handle) else { throw TLSError.configuration(OpenSSL.lastError()) }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw TLSError.configuration(OpenSSL.lastError())
        }
        SSL_set_bio(ssl, input, output)
        self.ssl = ssl
        self.input = input
        self.output = output
        self.host = host
    }

    deinit { SSL_free(ssl) }

    /// Takes ciphertext from the peer.
    func receive(_ ciphertext: UnsafeRawBufferPointer) {
        guard !ciphertext.isEmpty else { return }
        BIO_write(input, ciphertext.baseAddress, Int32(ciphertext.count))
    }

    /// Goes on with the handshake as far as the received bytes allow; true once it is done and both sides speak `h2`.
    ///
    /// Throws `TLSError`; what then lies in the output is an alert, worth sending.
    func handshake() throws(TLSError) -> Bool {
        if isEstablished { return true }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else {
            if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return false }
            throw failure()
        }
        var selected: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &selected, &length)
        guard let selected, length == 2, selected[0] == UInt8(ascii: "h"), selected[1] == UInt8(ascii: "2") else {
            throw TLSError.noHTTP2
        }
        isEstablished = true
        return true
    }

    /// Takes plaintext out, at most as much as fits.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> Read {
        ERR_clear_error()
        let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        if count > 0 { return .bytes(Int(count)) }
        switch SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ: return .empty
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: throw failure()
        }
    }

    /// Takes plaintext in; after the handshake only.
    func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        guard !plaintext.isEmpty else { return }
        ERR_clear_error()
        // The output is memory, so that OpenSSL takes all or fails.
        let count = SSL_write(ssl, plaintext.baseAddress, Int32(plaintext.count))
        if count != Int32(plaintext.count) { throw failure() }
    }

    /// Says that we shall send no more.
    func shutDown() {
        ERR_clear_error()
        if isEstablished { SSL_shutdown(ssl) }
    }

    /// Moves the ciphertext for the peer to the end of `buffer`.
    func takeOutput(into buffer: inout ByteBuffer) {
        let pending = Int(BIO_ctrl_pending(output))
        guard pending > 0 else { return }
        let count = BIO_read(output, buffer.reserve(pending), Int32(pending))
        buffer.commit(Int(max(0, count)))
    }

    private func failure() -> TLSError {
        if let host, let error = TLSError(verifyResult: SSL_get_verify_result(ssl), host: host) {
            ERR_clear_error()
            return error
        }
        return TLSError.fromQueue()
    }

    private static func isAddress(_ host: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1
    }
}
