/// Why a request is not accepted: Apple's word, and a hint for the person who reads the log.
struct Refusal: Error, Hashable {
    var reason: APNsReason
    /// Never holds a token or a key.
    var detail: String
    /// When the device token died, in milliseconds since 1970; sent with status 410.
    var timestampMilliseconds: Int64?

    init(_ reason: APNsReason, _ detail: String, timestampMilliseconds: Int64? = nil) {
        self.reason = reason
        self.detail = detail
        self.timestampMilliseconds = timestampMilliseconds
    }

    /// The answer's body.
    var json: [UInt8] {
        var members = [PayloadValue.Member(key: "reason", value: .string(reason.rawValue))]
        if let timestampMilliseconds {
            members.append(.init(key: "timestamp", value: .integer(timestampMilliseconds)))
        }
        return compactJSON(.object(members))
    }
}
