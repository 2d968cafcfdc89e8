import Net
import Storage

/// Makes the header fields of one gateway's requests. What requests have in common is prepared once.
struct APNsRequest {
    /// Longer tokens are refused unsent. Apple promises no length; today's have 64 digits, Live Activities' up to 200.
    static let maximumToken = 4096

    private let authority: HeaderField
    private var common: [HeaderField] = []
    private var commonKey: CommonKey?

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

    /// Pseudo-fields first; path and authorization never indexed, as they are secrets and differ too often.
    mutating func fields(for push: QueuedPush, topic: String, token: ProviderToken) -> [HeaderField] {
        let key = CommonKey(
            generation: token.generation, topic: topic, pushType: push.pushType, priority: push.priority)
        if key != commonKey {
            prepare(key, authorization: token.authorization)
            commonKey = key
        }
        var fields = common
        var path = Self.pathPrefix
        path += push.token.utf8
        fields[3].value = path
        fields.append(Self.expiration.with(String(push.expiresAt / 1000)))
        fields.append(Self.id.with(push.apnsID))
        if let collapseID = push.collapseID { fields.append(Self.collapseID.with(collapseID)) }
        return fields
    }

    private mutating func prepare(_ key: CommonKey, authorization: [UInt8]) {
        common = [
            HeaderField(":method", "POST"),
            HeaderField(":scheme", "https"),
            authority,
            HeaderField(":path", "", neverIndexed: true),
            HeaderField("authorization", String(decoding: authorization, as: UTF8.self), neverIndexed: true),
            HeaderField("apns-topic", key.topic),
            HeaderField("apns-push-type", key.pushType),
            HeaderField("apns-priority", String(key.priority)),
        ]
    }

    /// Why a row cannot be a request at all; nil when it can.
    static func refusal(of push: QueuedPush, topic: String) -> String? {
        if push.token.isEmpty { return "empty token" }
        if push.token.utf8.count > maximumToken { return "token too long" }
        if !push.token.utf8.allSatisfy(isUnreserved) { return "token has characters that no device token has" }
        if topic.isEmpty || !topic.utf8.allSatisfy(isUnreserved) { return "malformed topic" }
        return nil
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

    private static let pathPrefix = Array("/3/device/".utf8)
    private static let expiration = HeaderField("apns-expiration", "")
    private static let id = HeaderField("apns-id", "")
    private static let collapseID = HeaderField("apns-collapse-id", "")
}

extension HeaderField {
    /// The same name, whose bytes are shared, with another value.
    fileprivate func with(_ value: String) -> HeaderField {
        var field = self
        field.value = Array(value.utf8)
        return field
    }
}
