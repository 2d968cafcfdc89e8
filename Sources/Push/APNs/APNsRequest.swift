import Net
import Storage

/// Makes the header fields of one gateway's requests. What requests have in common is laid out once.
struct APNsRequest {
    /// Longer tokens are refused unsent. Apple promises no length; today's have 64 digits, Live Activities' up to 200.
    static let maximumToken = 4096

    private static let maximumPrepared = 64

    private let authority: HeaderField
    private var prepared: [CommonKey: PreparedHeaders] = [:]
    /// The ones that were used last, which most often are those wanted next.
    private var latest: (key: CommonKey, headers: PreparedHeaders)?
    /// What was written last for a second since 1970: pushes of the same moment mostly expire in the same second.
    private var expiration = (seconds: Int64(0), text: [UInt8(ascii: "0")])

    private struct CommonKey: Hashable {
        var generation: Int
        var topic: String
        var pushType: String
        var priority: Int
    }

    init(to gateway: Endpoint) {
        let host = gateway.host.utf8.contains(UInt8(ascii: ":")) ? "[\(gateway.host)]" : gateway.host
        authority = HeaderField(":authority", gateway.port == 443 ? host : "\(host):\(gateway.port)")
    }

    /// What requests share while topic, push type, priority and provider token stay the same.
    /// - Parameter generation: that of `token`.
    mutating func common(
        for push: QueuedPush, topic: String, generation: Int, token: @autoclosure () -> ProviderToken
    ) -> PreparedHeaders {
        let message = push.message
        if let latest, latest.key.generation == generation, latest.key.priority == message.priority,
            latest.key.pushType == message.pushType, latest.key.topic == topic
        {
            return latest.headers
        }
        let key = CommonKey(
            generation: generation, topic: topic, pushType: message.pushType, priority: message.priority)
        let headers = prepare(key, token())
        latest = (key, headers)
        return headers
    }

    private mutating func prepare(_ key: CommonKey, _ token: ProviderToken) -> PreparedHeaders {
        if let headers = prepared[key] { return headers }
        // Topics are few, but devices may name what they like; and every provider token makes new headers.
        if prepared.count >= Self.maximumPrepared { prepared = [:] }
        let headers = PreparedHeaders(Self.commonFields(key, authority: authority, token: token))
        prepared[key] = headers
        return headers
    }

    /// Pseudo-fields first.
    private static func commonFields(_ key: CommonKey, authority: HeaderField, token: ProviderToken) -> [HeaderField] {
        [
            HeaderField(":method", "POST"),
            HeaderField(":scheme", "https"),
            authority,
            HeaderField(name: Array("authorization".utf8), value: token.authorization, neverIndexed: true),
            HeaderField("apns-topic", key.topic),
            HeaderField("apns-push-type", key.pushType),
            HeaderField("apns-priority", String(key.priority)),
        ]
    }

    /// What each request has of its own: what is another each time stays out of HPACK's table, where it would push out what
    /// is the same.
    mutating func writeOwnFields(of push: QueuedPush, to fields: inout FieldLiterals) {
        let seconds = push.message.isOnce ? 0 : push.expiresAt / 1000
        if seconds != expiration.seconds { expiration = (seconds, Array(String(seconds).utf8)) }
        let token = push.device.token
        let collapseID = push.message.collapseID
        fields.begin(
            path: "/3/device/", token, capacity: 128 + token.utf8.count + (collapseID.map { 24 + $0.utf8.count } ?? 0))
        fields.append("apns-expiration", expiration.text)
        fields.append("apns-id", count: DedupeKey.uuidLength) { push.key.appendUUID(to: &$0) }
        if let collapseID { fields.append("apns-collapse-id", collapseID) }
    }

    /// Why a row cannot be a request at all; nil when it can.
    static func refusal(of push: QueuedPush, topic: String) -> String? {
        if push.device.token.isEmpty { return "empty token" }
        if push.device.token.utf8.count > maximumToken { return "token too long" }
        if !isPlain(push.device.token) { return "token has characters that no device token has" }
        if topic.isEmpty || !isPlain(topic) { return "malformed topic" }
        return nil
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable {
            areDigits(UnsafeRawBufferPointer($0)) || $0.allSatisfy(isUnreserved)
        }
            ?? text.utf8.allSatisfy(isUnreserved)
    }

    /// Whether all are hexadecimal digits, as in nearly every token, looked at eight at a time: adding what a byte's class
    /// lacks to 128 sets its high bit.
    private static func areDigits(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count % 8 == 0 else { return false }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs = ones &* 0x80
        func from(_ byte: UInt8, in word: UInt64) -> UInt64 { word &+ ones &* UInt64(0x80 - byte) }
        var all = highs
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let word = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            let (low, letter) = (word & ~highs, word & ~highs | ones &* 0x20)
            let isDigit = from(0x30, in: low) & ~from(0x3A, in: low)
            let isLetter = from(0x61, in: letter) & ~from(0x67, in: letter)
            all &= (isDigit | isLetter) & ~word
        }
        return all == highs
    }

    /// Stands for itself in a path. Source: RFC 3986 §2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
