import COpenSSL

/// Bytes that are wiped when nobody needs them any more, and that no description shows.
final class SecretBytes: @unchecked Sendable, CustomReflectable {  // Written once, before it is shared.
    private let start: UnsafeMutablePointer<UInt8>
    private let count: Int

    init(_ bytes: [UInt8]) {
        count = bytes.count
        start = .allocate(capacity: max(count, 1))
        start.initialize(repeating: 0, count: max(count, 1))
        bytes.withUnsafeBufferPointer { if let first = $0.baseAddress { start.update(from: first, count: count) } }
    }

    deinit {
        OPENSSL_cleanse(start, count)
        start.deallocate()
    }

    /// Lends the bytes and their number; the address is good until `body` returns.
    func withBytes<Result>(_ body: (UnsafePointer<UInt8>, Int) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(start, count) }
    }

    var customMirror: Mirror { Mirror(self, children: []) }
}
