@testable import Storage

@testable import Push

extension QueuedPush {
    /// A row as the outbox would hand it out.
    static func sample(id: Int64) -> QueuedPush {
        QueuedPush(
            id: id, did: "did:plc:a", tokenID: id, token: "00fc13adff785122", platform: "apns",
            environment: "production", topic: nil, registeredAt: 0, apnsID: "123e4567-e89b-12d3-a456-42665544000a",
            payload: Array("{}".utf8), collapseID: nil, priority: 10, pushType: "alert",
            expiresAt: 1_900_000_000_000, attempts: 0)
    }
}
