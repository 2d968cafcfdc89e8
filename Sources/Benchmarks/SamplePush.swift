import HookKit

/// The push that everybody sends: a body of 208 bytes, and APNs' header fields.
struct SamplePush {
    static let bodyBytes = 208

    /// Made up, 64 digits each.
    let tokens: [String]
    /// As long as a real provider token.
    let authorization = "bearer " + String(repeating: "eyJhbGciOiJFUzI1NiIsImtpZCI6", count: 7)
    let topic = "com.example.grain"
    let body: [UInt8]

    init(devices: Int) {
        tokens = (0..<devices).map { device in
            let digits = String(device, radix: 16)
            return String(repeating: "a", count: 64 - digits.count) + digits
        }
        body = Self.payload(stamp: 0)
    }

    var headers: [(name: String, value: String)] {
        [
            ("authorization", authorization), ("apns-topic", topic), ("apns-push-type", "alert"),
            ("apns-priority", "10"), ("apns-expiration", "1796000000"),
        ]
    }

    static func did(_ device: Int) -> String { "did:plc:bench\(device)" }

    /// What a hook would send; its payload has `bodyBytes` bytes.
    static func notification(to device: Int, stamp: UInt64) -> Notification {
        Notification(
            did: did(device), title: "New favorite", body: text(stamp, did: did(device)),
            data: ["type": "gallery-favorite", StampRecord.key: String(stamp)])
    }

    private static func text(_ stamp: UInt64, did: String) -> String {
        let fill = 61 - String(stamp).utf8.count - did.utf8.count
        return "Somebody favorited your gallery" + String(repeating: ".", count: fill)
    }

    /// The same as the sender's encoder makes of `notification`.
    private static func payload(stamp: UInt64) -> [UInt8] {
        let text = text(stamp, did: did(0))
        return Array(
            #"{"aps":{"alert":{"title":"New favorite","body":"\#(text)"},"sound":"default"},"did":"\#(did(0))","stamp":"\#(stamp)","type":"gallery-favorite"}"#
                .utf8)
    }
}
