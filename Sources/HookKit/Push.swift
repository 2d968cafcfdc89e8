/// Sends notifications to a person's devices.
public protocol Push: Sendable {
    /// Queues `notification` for every device of its recipient. Returns at once, never throws;
    /// what cannot be sent is reported through `emit`.
    func send(_ notification: Notification)
}

/// What a person is to see, and how it is to arrive.
public struct Notification: Sendable, Hashable {
    /// The recipient's DID.
    public var did: String
    public var title: String
    public var body: String
    /// Top-level keys of the payload beside `aps`.
    public var data: [String: String]
    /// Notifications with the same identifier replace each other on the device: at most 64 bytes of UTF-8.
    public var collapseID: String?

    public init(did: String, title: String, body: String, data: [String: String] = [:], collapseID: String? = nil) {
        self.did = did
        self.title = title
        self.body = body
        self.data = data
        self.collapseID = collapseID
    }
}

extension Push {
    public func send(
        did: String, title: String, body: String, data: [String: String] = [:], collapseID: String? = nil
    ) {
        send(Notification(did: did, title: title, body: body, data: data, collapseID: collapseID))
    }
}
