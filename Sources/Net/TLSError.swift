import COpenSSL

/// Why TLS could not be set up.
public enum TLSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Our own certificate, key or list of authorities cannot be used.
    case configuration(String)
    /// The peer's certificate does not lead to an authority that is trusted; with OpenSSL's reason.
    case untrusted(String)
    /// The peer's certificate is for other names than this host.
    case wrongName(String)
    case expired
    case notYetValid
    /// ALPN did not select `h2`.
    case noHTTP2
    /// The handshake was refused or broken off; with the reason.
    case handshake(String)

    public var description: String {
        switch self {
        case .configuration(let reason): reason
        case .untrusted(let reason): "the peer's certificate is not trusted: \(reason)"
        case .wrongName(let host): "the peer's certificate is not for \(host)"
        case .expired: "the peer's certificate has expired"
        case .notYetValid: "the peer's certificate is not valid yet"
        case .noHTTP2: "the peer does not speak HTTP/2"
        case .handshake(let reason): "TLS handshake failed: \(reason)"
        }
    }

    /// From the result of verifying the certificate of `host`; nil when that went well.
    init?(verifyResult: Int, host: String) {
        switch Int32(truncatingIfNeeded: verifyResult) {
        case X509_V_OK: return nil
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .wrongName(host)
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        default: self = .untrusted(String(cString: X509_verify_cert_error_string(verifyResult)))
        }
    }

    /// From OpenSSL's error queue, which is emptied.
    static func fromQueue() -> TLSError {
        let code = ERR_peek_error()
        ERR_clear_error()
        switch ERR_GET_REASON(code) {
        case 0: return .handshake("the connection was closed")
        case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, SSL_R_NO_APPLICATION_PROTOCOL: return .noHTTP2
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST: return .handshake("the peer does not speak TLS")
        default: return .handshake(OpenSSL.text(code))
        }
    }
}

enum OpenSSL {
    /// OpenSSL's words for an error code.
    static func text(_ code: UInt) -> String {
        guard let text = ERR_reason_error_string(code) else { return "OpenSSL error \(code)" }
        return String(cString: text)
    }

    /// OpenSSL's words for the newest error in its queue, which is emptied.
    static func lastError() -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        return code == 0 ? "unknown error" : text(code)
    }

    /// Calls `body` with a BIO that reads the bytes of `text`; nil when memory is out.
    static func withReader<Result>(_ text: String, _ body: (OpaquePointer) throws -> Result) rethrows -> Result? {
        var text = text
        return try text.withUTF8 { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress ?? UnsafePointer(bitPattern: 1), Int32(bytes.count))
            else {
                return nil
            }
            defer { BIO_free(bio) }
            return try body(bio)
        }
    }

    /// The text that `body` writes to a BIO; nil when it answers other than 1.
    static func written(_ body: (OpaquePointer) -> Int32) -> String? {
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(bio) }
        guard body(bio) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(bio)))
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
    }
}
