import COpenSSL
import Crypto

/// An authority made on the spot and a certificate that it issued, for stand-ins on loopback and for tests.
///
/// ECDSA P-256; valid from yesterday for a year unless told otherwise.
public struct SelfSignedCertificate: Sendable {
    /// The server's certificate.
    public let certificatePEM: String
    /// Its key, PKCS #8 without a passphrase.
    public let keyPEM: String
    /// The authority's certificate, for clients to trust.
    public let caPEM: String

    /// `hosts` are DNS names and IP addresses; `validDays` counts from now, as days of the certificate's first and last moments.
    ///
    /// Throws `TLSError.configuration` when a host cannot stand in a certificate.
    public init(hosts: [String] = ["localhost", "127.0.0.1", "::1"], validDays: ClosedRange<Int> = -1...365) throws {
        OpenSSLLibrary.prepare()
        ERR_clear_error()
        let authorityKey = try PrivateKey()
        let authority = try X509Certificate(
            subject: "Loopback authority", issuer: "Loopback authority", key: authorityKey, validDays: -1...3650)
        try authority.add(NID_basic_constraints, "critical,CA:TRUE")
        try authority.add(NID_key_usage, "critical,keyCertSign,cRLSign")
        try authority.sign(with: authorityKey)

        let leafKey = try PrivateKey()
        let leaf = try X509Certificate(
            subject: hosts.first ?? "localhost", issuer: "Loopback authority", key: leafKey, validDays: validDays)
        try leaf.add(NID_basic_constraints, "critical,CA:FALSE")
        try leaf.add(NID_ext_key_usage, "serverAuth")
        try leaf.add(NID_subject_alt_name, try hosts.map(SelfSignedCertificate.alternativeName).joined(separator: ","))
        try leaf.sign(with: authorityKey)

        certificatePEM = try leaf.pem()
        keyPEM = try leafKey.pem()
        caPEM = try authority.pem()
    }

    /// As OpenSSL's configuration syntax wants it, in which a comma would begin another name.
    private static func alternativeName(_ host: String) throws -> String {
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }) else {
            throw TLSError.configuration("a certificate cannot be for \"\(host)\"")
        }
        guard let address = a2i_IPADDRESS(host) else { return "DNS:\(host)" }
        ASN1_OCTET_STRING_free(address)
        return "IP:\(host)"
    }
}

private final class PrivateKey {
    let handle: OpaquePointer

    init() throws {
        guard let handle = hark_generate_p256() else { throw TLSError.configuration(OpenSSL.lastError()) }
        self.handle = handle
    }

    deinit { EVP_PKEY_free(handle) }

    func pem() throws -> String {
        let text = OpenSSL.written { PEM_write_bio_PrivateKey($0, handle, nil, nil, 0, nil, nil) }
        guard let text else { throw TLSError.configuration(OpenSSL.lastError()) }
        return text
    }
}

private final class X509Certificate {
    private let handle: OpaquePointer

    init(subject: String, issuer: String, key: PrivateKey, validDays: ClosedRange<Int>) throws {
        guard let handle = X509_new() else { throw TLSError.configuration(OpenSSL.lastError()) }
        self.handle = handle
        X509_set_version(handle, 2)  // which is written as 3
        ASN1_INTEGER_set_int64(X509_get_serialNumber(handle), Int64.random(in: 1...Int64.max))
        X509_gmtime_adj(X509_getm_notBefore(handle), validDays.lowerBound * 86_400)
        X509_gmtime_adj(X509_getm_notAfter(handle), validDays.upperBound * 86_400)
        X509_set_pubkey(handle, key.handle)
        for (name, text) in [(X509_get_subject_name(handle), subject), (X509_get_issuer_name(handle), issuer)] {
            guard X509_NAME_add_entry_by_txt(name, "CN", Int32(MBSTRING_FLAG), text, -1, -1, 0) == 1 else {
                throw TLSError.configuration("a certificate cannot be for \"\(text)\": \(OpenSSL.lastError())")
            }
        }
    }

    deinit { X509_free(handle) }

    func add(_ identifier: Int32, _ value: String) throws {
        guard let field = X509V3_EXT_conf_nid(nil, nil, identifier, value) else {
            throw TLSError.configuration("\(value): \(OpenSSL.lastError())")
        }
        X509_add_ext(handle, field, -1)
        X509_EXTENSION_free(field)
    }

    func sign(with key: PrivateKey) throws {
        guard X509_sign(handle, key.handle, EVP_sha256()) > 0 else { throw TLSError.configuration(OpenSSL.lastError()) }
    }

    func pem() throws -> String {
        guard let text = OpenSSL.written({ PEM_write_bio_X509($0, handle) }) else {
            throw TLSError.configuration(OpenSSL.lastError())
        }
        return text
    }
}
