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
        let (front, back) = (high & ~0xf000 | 0x8000, low & ~(3 << 62) | 1 << 63)
        let digits = (Self.digits(front >> 32), Self.digits(front), Self.digits(back >> 32), Self.digits(back))
        let target = UnsafeMutableRawBufferPointer(text)
        target.storeBytes(of: digits.0, as: UInt64.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: digits.1), toByteOffset: 9, as: UInt32.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: digits.1 >> 32), toByteOffset: 14, as: UInt32.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: digits.2), toByteOffset: 19, as: UInt32.self)
        target.storeBytes(of: UInt32(truncatingIfNeeded: digits.2 >> 32), toByteOffset: 24, as: UInt32.self)
        target.storeBytes(of: digits.3, toByteOffset: 28, as: UInt64.self)
        for hyphen in stride(from: 8, through: 23, by: 5) { text[hyphen] = UInt8(ascii: "-") }
    }

    /// The eight hexadecimal digits of the low 32 bits, the first in the lowest byte: a digit a byte, all at once.
    private static func digits(_ word: UInt64) -> UInt64 {
        var spread = UInt64(UInt32(truncatingIfNeeded: word).byteSwapped)
        spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff
        spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff
        // The high half of each byte comes first.
        spread = (spread >> 4 | spread << 8) & 0x0f0f_0f0f_0f0f_0f0f
        let ones: UInt64 = 0x0101_0101_0101_0101
        let isLetter = (spread &+ ones &* 6) >> 4 & ones
        return spread &+ ones &* 0x30 &+ isLetter &* 0x27
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
