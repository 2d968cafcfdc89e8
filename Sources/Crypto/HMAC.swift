import COpenSSL

/// HMAC with SHA-256. Source: RFC 2104.
public enum HMAC {
    /// The 32 bytes of the code.
    public static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        var count = UInt32(code.count)
        let made = COpenSSL.HMAC(
            EVP_sha256(), key, Int32(key.count), message, message.count, &code, &count)
        precondition(made != nil && count == UInt32(SHA256.byteCount), "HMAC failed: out of memory")
        return code
    }
}

/// Comparing secrets.
public enum ConstantTime {
    /// Whether both are the same, in a time that depends on their lengths alone.
    public static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
