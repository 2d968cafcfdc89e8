import COpenSSL

/// The library as a whole.
public enum OpenSSLLibrary {
    /// To be called before anything else of OpenSSL's, or of a library that uses it. Any thread; cheap after the first time.
    ///
    /// By itself OpenSSL frees what all threads share as soon as `exit()` is called. A thread that ends in that moment, or
    /// still hashes, then frees or uses the same memory once more. What is kept instead goes with the process.
    /// Source: OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT.
    public static func prepare() { _ = isPrepared }

    private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
