import ATProto

/// How a recording is written. Told by its content, never by its name.
public enum RecordingFormat: String, Sendable {
    /// Jetstream v1 JSON, an event a line.
    case jetstream = "Jetstream lines"
    /// Relay frames, each behind its length as an unsigned 32-bit little-endian number.
    case framesWithLength = "relay frames"
    /// Relay frames, one after the other.
    case bareFrames = "bare relay frames"
    /// A repo export: a CAR with one signed commit.
    case repoExport = "repo export"

    /// Looks at the first bytes (a few hundred suffice); nil when they are none of these.
    ///
    /// The forms cannot be confused: a length of at most 5 MB has a zero as its fourth byte, which neither text nor
    /// a frame's header nor a CAR's header has there.
    init?(head: UnsafeRawBufferPointer) {
        if Self.isFrameHeader(head) {
            self = .bareFrames
        } else if Self.isCARHeader(head) {
            self = .repoExport
        } else if head.count > 4, Self.length(head) <= RelayFrame.maximumSize, head.contains(where: { $0 != 0 }) {
            self = .framesWithLength
        } else if Self.looksLikeText(head) {
            self = .jetstream
        } else {
            return nil
        }
    }

    /// The little-endian number in the first four bytes.
    static func length(_ bytes: UnsafeRawBufferPointer) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
    }

    /// A map of one or two entries whose first key is `t` or `op`: a relay frame's header.
    static func isFrameHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 4, bytes[0] == 0xA1 || bytes[0] == 0xA2 else { return false }
        return (bytes[1] == 0x61 && bytes[2] == UInt8(ascii: "t"))
            || (bytes[1] == 0x62 && bytes[2] == UInt8(ascii: "o") && bytes[3] == UInt8(ascii: "p"))
    }

    /// A varint, then a map of two entries whose first key is `roots`.
    private static func isCARHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let varintLength = (bytes.prefix(2).firstIndex { $0 < 0x80 } ?? 1) + 1
        let expected: [UInt8] = [0xA2, 0x65] + Array("roots".utf8)
        return bytes.dropFirst(varintLength).starts(with: expected)
    }

    /// Begins with an object, whatever lies on later lines, or has one somewhere and nothing that no text has.
    private static func looksLikeText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let first = bytes.first { !" \t\r\n".utf8.contains($0) }
        if first == UInt8(ascii: "{") { return true }
        return bytes.contains { $0 == UInt8(ascii: "{") } && !bytes.contains { $0 == 0 }
    }
}
