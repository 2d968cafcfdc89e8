import COpenSSL

/// SHA-256, in one shot.
public enum SHA256 {
    public static let byteCount = 32

    /// The 32 bytes of the digest.
    public static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            hash(bytes, into: UnsafeMutableRawBufferPointer(digest))
            count = byteCount
        }
    }

    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// Writes the digest into the first 32 bytes of `digest`, which must have room for it.
    public static func hash(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) {
        precondition(digest.count >= byteCount)
        let done = EVP_Digest(
            bytes.baseAddress, bytes.count, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
            Algorithm.shared.handle, nil)
        precondition(done == 1, "SHA-256 failed: out of memory")
    }

    /// Fetched once: EVP_sha256() would look the implementation up again for each digest.
    private final class Algorithm: @unchecked Sendable {  // The handle is immutable and reference-counted.
        static let shared = Algorithm()
        let handle: OpaquePointer

        private init() {
            OpenSSLLibrary.prepare()
            guard let handle = EVP_MD_fetch(nil, "SHA256", nil) else { fatalError("OpenSSL has no SHA-256") }
            self.handle = handle
        }
    }
}
