@testable import Storage

@testable import Push

extension QueuedPush {
    /// A row as the outbox would hand it out.
    static func sample(
        id: Int64, token: String = "00fc13adff785122", collapseID: String? = nil, expiresAt: Int64 = 1_900_000_000_000
    ) -> QueuedPush {
        let key =
            [0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x55, 0x44, 0x00, 0x0a] as [UInt8]
        return QueuedPush(
            id: id,
            message: PushMessage(
                did: "did:plc:a", payload: Array("{}".utf8), collapseID: collapseID, priority: 10, pushType: "alert"),
            device: PushDevice(
                id: id, token: token, platform: "apns", environment: "production", topic: nil, registeredAt: 0),
            key: key.withUnsafeBytes { DedupeKey($0) }, expiresAt: expiresAt, attempts: 0)
    }
}
