import COpenSSL
import Crypto

/// A shared, immutable TLS configuration. TLS 1.2 or newer, ALPN `h2` required.
///
/// Sendable because nothing changes an `SSL_CTX` after `init`, and OpenSSL counts its references under a lock.
public final class TLSContext: @unchecked Sendable {
    let handle: OpaquePointer

    /// A client that trusts the system's roots, or only those in `caFile` (PEM). Checks chain, host name or IP; sends SNI for names.
    ///
    /// Throws `TLSError.configuration` when the file cannot be read or holds no certificate.
    public static func client(caFile: String? = nil) throws -> TLSContext {
        let context = try TLSContext(TLS_client_method())
        if let caFile {
            guard SSL_CTX_load_verify_locations(context.handle, caFile, nil) == 1 else {
                throw TLSError.configuration("\(caFile): no certificates can be read here (\(OpenSSL.lastError()))")
            }
        } else {
            SSL_CTX_set_default_verify_paths(context.handle)
        }
        context.verifyPeer(anchorsMayBeLeaves: caFile != nil)
        return context
    }

    /// A client that trusts only the certificates in `caPEM`.
    ///
    /// Throws `TLSError.configuration` when there are none.
    public static func client(caPEM: String) throws -> TLSContext {
        let context = try TLSContext(TLS_client_method())
        let certificates = try Certificates(pem: caPEM)
        let store = SSL_CTX_get_cert_store(context.handle)
        for certificate in certificates.handles { X509_STORE_add_cert(store, certificate) }
        context.verifyPeer(anchorsMayBeLeaves: true)
        return context
    }

    /// A server with a certificate chain (its own first) and a key, both PEM text.
    ///
    /// With `offersHTTP2` false it selects no protocol, as a server of the wrong kind does. Throws `TLSError.configuration`
    /// when either cannot be read or they do not belong together.
    public static func server(certificatePEM: String, keyPEM: String, offersHTTP2: Bool = true) throws -> TLSContext {
        let context = try TLSContext(TLS_server_method())
        let chain = try Certificates(pem: certificatePEM)
        guard SSL_CTX_use_certificate(context.handle, chain.handles[0]) == 1 else {
            throw TLSError.configuration("the server's certificate cannot be used: \(OpenSSL.lastError())")
        }
        for issuer in chain.handles.dropFirst() { _ = hark_ctx_add_chain_certificate(context.handle, issuer) }

        let key = OpenSSL.withReader(keyPEM) { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) } ?? nil
        guard let key else { throw TLSError.configuration("the server's key is not a PEM key without a passphrase") }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(context.handle, key) == 1, SSL_CTX_check_private_key(context.handle) == 1 else {
            throw TLSError.configuration("the server's key does not fit its certificate: \(OpenSSL.lastError())")
        }
        // Every connection here lasts; tickets for resuming it would only be written, never used.
        SSL_CTX_set_num_tickets(context.handle, 0)
        if offersHTTP2 { SSL_CTX_set_alpn_select_cb(context.handle, selectHTTP2, nil) }
        return context
    }

    private init(_ method: OpaquePointer?) throws {
        OpenSSLLibrary.prepare()
        ERR_clear_error()
        guard let handle = SSL_CTX_new(method) else { throw TLSError.configuration(OpenSSL.lastError()) }
        self.handle = handle
        _ = hark_ctx_set_min_version(handle, TLS1_2_VERSION)
        hark_ctx_disable_session_cache(handle)
        SSL_CTX_set_options(handle, UInt64(1) << 30)  // SSL_OP_NO_RENEGOTIATION
        SSL_CTX_set_alpn_protos(handle, TLSContext.http2, UInt32(TLSContext.http2.count))
    }

    deinit { SSL_CTX_free(handle) }

    /// ALPN's list of protocols, each behind its length: `h2` alone (RFC 7301, section 3.1).
    fileprivate static let http2: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]

    /// With `anchorsMayBeLeaves`, each certificate of a list that was given is trusted in its own right.
    private func verifyPeer(anchorsMayBeLeaves: Bool) {
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        if anchorsMayBeLeaves {
            X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(handle), UInt(X509_V_FLAG_PARTIAL_CHAIN))
        }
    }
}

/// The certificates of a PEM text, at least one, in order.
private final class Certificates {
    private(set) var handles: [OpaquePointer] = []

    init(pem: String) throws {
        ERR_clear_error()
        _ = OpenSSL.withReader(pem) { reader in
            while let certificate = PEM_read_bio_X509(reader, nil, refusePassphrase, nil) {
                handles.append(certificate)
            }
        }
        ERR_clear_error()
        if handles.isEmpty { throw TLSError.configuration("no PEM certificate found") }
    }

    deinit { for certificate in handles { X509_free(certificate) } }
}

/// Without this OpenSSL would ask for a passphrase on the terminal.
private func refusePassphrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

private func selectHTTP2(
    _: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let offered, let selected, let length else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    var index = 0
    while index < Int(offeredLength) {
        let count = Int(offered[index])
        guard index + 1 + count <= Int(offeredLength) else { break }
        if count == 2, offered[index + 1] == TLSContext.http2[1], offered[index + 2] == TLSContext.http2[2] {
            selected.pointee = offered + index + 1
            length.pointee = 2
            return SSL_TLSEXT_ERR_OK
        }
        index += 1 + count
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
