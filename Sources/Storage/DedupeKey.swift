import ATProto
import Crypto

/// What makes a notification to a device the same one: hook, uri, rev, the send's place in the hook, token; or, when its
/// sender names it, recipient, dedupe id, token.
///
/// In front the rev's time, to 32 microseconds, so that keys of the same time are neighbours in the index and in the page
/// cache; behind it the first 10 bytes of a SHA-256 over all these, each behind its length, so that no two lists of them
/// run together alike. Zeros stand for the time of a rev that is no TID, and where the rev is not to count.
struct DedupeKey {
    static let byteCount = 16
    private static let timeBytes = 6

    private var input: [UInt8] = []
    private var prefix = 0
    /// In its low 6 bytes.
    private var time: UInt64 = 0

    /// Sets what all devices of a notification have in common.
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

    /// The key for one device, in memory that is good until `body` returns.
    mutating func withBytes<T>(token: UnsafeBufferPointer<UInt8>, _ body: (UnsafeRawBufferPointer) -> T) -> T {
        input.removeSubrange(prefix...)
        append(UInt64(token.count))
        input.append(contentsOf: token)
        return withUnsafeTemporaryAllocation(byteCount: SHA256.byteCount, alignment: 8) { digest in
            input.withUnsafeBytes { SHA256.hash($0, into: digest) }
            // The digest's first bytes give way to the time.
            let front = Self.timeBytes
            for index in 0..<front {
                digest[index] = UInt8(truncatingIfNeeded: time >> UInt64(8 * (front - 1 - index)))
            }
            return body(UnsafeRawBufferPointer(rebasing: digest[..<Self.byteCount]))
        }
    }

    private mutating func append(_ text: String) {
        append(UInt64(text.utf8.count))
        input.append(contentsOf: text.utf8)
    }

    private mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { input.append(contentsOf: $0) }
    }

    /// The key as a UUID (version 8, of its maker's own making; RFC 9562), lowercase: an `apns-id` that stays the same
    /// over all attempts.
    static func uuid(_ key: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            for index in 0..<byteCount {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    text[end] = UInt8(ascii: "-")
                    end += 1
                }
                var byte = index < key.count ? key[index] : 0
                if index == 6 { byte = byte & 0x0f | 0x80 }
                if index == 8 { byte = byte & 0x3f | 0x80 }
                text[end] = digit(byte >> 4)
                text[end + 1] = digit(byte & 15)
                end += 2
            }
            return end
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
