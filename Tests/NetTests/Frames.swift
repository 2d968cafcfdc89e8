/// HTTP/2 frames by hand (RFC 9113, section 4.1), for peers that do what no library would.
enum Frames {
    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = UInt32(payload.count)
        return [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + bytes(stream)
            + payload
    }

    static func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) } }

    static func goAway(last: UInt32, error: UInt32, debug: String = "") -> [UInt8] {
        frame(7, bytes(last) + bytes(error) + Array(debug.utf8))
    }

    static let settings = frame(4)
    /// HEADERS with `:status: 200` (from HPACK's static table) and END_STREAM.
    static func ok(_ stream: UInt32) -> [UInt8] { frame(1, flags: 5, stream: stream, [0x88]) }
    /// The same without END_STREAM.
    static func okAndMore(_ stream: UInt32) -> [UInt8] { frame(1, flags: 4, stream: stream, [0x88]) }
    static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
}

/// The same numbers in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
