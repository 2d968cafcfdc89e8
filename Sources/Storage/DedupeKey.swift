import ATProto
import Crypto

/// What makes a notification to a device the same one: 16 bytes, unique in the outbox.
///
/// In front the rev's time, to 32 microseconds, so that keys of the same time are neighbours in the index and in the page
/// cache; behind it the first 10 bytes of a SHA-256, which `DedupeKeyMaker` makes.
public struct DedupeKey: Sendable, Hashable {
    static let byteCount = 16
    /// The length of `appendUUID`'s text.
    public static let uuidLength = 36

    private let high: UInt64
    private let low: UInt64

    /// - Parameter bytes: 16 of them; missing ones count as zeros.
    init(_ bytes: UnsafeRawBufferPointer) {
        func word(_ start: Int) -> UInt64 {
            bytes.dropFirst(start).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        (high, low) = (word(0), word(8))
    }

    /// - Parameters:
    ///   - time: in its low 6 bytes, which come first.
    ///   - digest: gives way to the time with its first 6 bytes.
    fileprivate init(time: UInt64, digest: UnsafeRawBufferPointer) {
        let front = UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self))
        high = time << 16 | front & 0xffff
        low = UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// The bytes as the outbox keeps them.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
    }

    /// The key as a UUID (version 8, of its maker's own making; RFC 9562), lowercase: an `apns-id` that stays the same
    /// over all attempts.
    public var uuid: String {
        String(unsafeUninitializedCapacity: Self.uuidLength) { text in
            writeUUID(to: text)
            return Self.uuidLength
        }
    }

    /// The same as bytes, behind those that are there.
    public func appendUUID(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.uuidLength) { text in
            writeUUID(to: text)
            bytes.append(contentsOf: text)
        }
    }

    private func writeUUID(to text: UnsafeMutableBufferPointer<UInt8>) {
        var end = 0
        func write(_ word: UInt64, hyphensBefore: UInt64) {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                if hyphensBefore & 1 << shift != 0 {
                    text[end] = UInt8(ascii: "-")
                    end += 1
                }
                let byte = UInt8(truncatingIfNeeded: word >> shift)
                text[end] = Self.digit(byte >> 4)
                text[end + 1] = Self.digit(byte & 15)
                end += 2
            }
        }
        write(high & ~0xf000 | 0x8000, hyphensBefore: 1 << 24 | 1 << 8)
        write(low & ~(3 << 62) | 1 << 63, hyphensBefore: 1 << 56 | 1 << 40)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// Makes dedupe keys: of hook, uri, rev, the send's place in the hook, token; or, when its sender names it, of recipient,
/// dedupe id, token.
///
/// They are hashed each behind its length, so that no two lists of them run together alike. Zeros stand for the time of a
/// rev that is no TID, and where the rev is not to count.
struct DedupeKeyMaker {
    private var input: [UInt8] = []
    private var prefix = 0
    /// In its low 6 bytes.
    private var time: UInt64 = 0

    /// Sets what all devices of a notification have in common.
    @inline(__always)
    mutating func begin(_ entry: OutboxEntry) {
        input.removeAll(keepingCapacity: true)
        if let dedupeID = entry.dedupeID {
            // No hook's name has this length.
            append(UInt64.max)
            append(entry.did)
            append(dedupeID)
            time = 0
        } else {
            append(entry.hook)
            append(entry.uri)
            append(entry.rev)
            append(UInt64(bitPattern: Int64(entry.place)))
            time = (try? TID(entry.rev)).map { $0.rawValue >> 15 } ?? 0
        }
        prefix = input.count
    }

    /// The key for one device.
    mutating func key(token: String) -> DedupeKey {
        input.removeSubrange(prefix...)
        append(token)
        return withUnsafeTemporaryAllocation(byteCount: SHA256.byteCount, alignment: 8) { digest in
            input.withUnsafeBytes { SHA256.hash($0, into: digest) }
            return DedupeKey(time: time, digest: UnsafeRawBufferPointer(digest))
        }
    }

    private mutating func append(_ text: String) {
        append(UInt64(text.utf8.count))
        input.append(contentsOf: text.utf8)
    }

    private mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { input.append(contentsOf: $0) }
    }
}
