import COpenSSL

/// Bytes that are wiped when nobody needs them any more, and that no description shows.
final class SecretBytes: @unchecked Sendable, CustomReflectable {  // Written once, before it is shared.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) {
        storage = .allocate(capacity: max(bytes.count, 1))
        _ = storage.initialize(from: bytes + (bytes.isEmpty ? [0] : []))
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// Valid for as long as this object is.
    var pointer: UnsafePointer<UInt8> { UnsafePointer(storage.baseAddress!) }

    var customMirror: Mirror { Mirror(self, children: []) }
}
