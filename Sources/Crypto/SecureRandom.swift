import COpenSSL

/// Random bytes that nobody can predict.
public enum SecureRandom {
    public static func bytes(_ count: Int) throws(KeyError) -> [UInt8] {
        OpenSSLLibrary.prepare()
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_bytes(&bytes, Int32(count)) == 1 else { throw KeyError("the system has no randomness to give") }
        return bytes
    }
}
