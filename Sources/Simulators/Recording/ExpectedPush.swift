/// A notification that the evening must cause: what its recipient's devices show.
public struct ExpectedPush: Sendable, Hashable, CustomStringConvertible {
    public var recipient: String
    public var title: String
    public var body: String
    public var data: [String: String]

    public init(recipient: String, title: String, body: String, data: [String: String]) {
        self.recipient = recipient
        self.title = title
        self.body = body
        self.data = data
    }

    public var description: String { "\(recipient): \(title) / \(body) \(data.sorted { $0.key < $1.key })" }

    /// Texts are equal when their bytes are: two of the evening's names differ in nothing else.
    public static func == (a: ExpectedPush, b: ExpectedPush) -> Bool {
        a.recipient == b.recipient && a.title == b.title && a.body.utf8.elementsEqual(b.body.utf8) && a.data == b.data
    }
}

/// A notification on one device.
public struct ExpectedDelivery: Sendable, Hashable {
    public var token: String
    public var push: ExpectedPush

    public init(token: String, push: ExpectedPush) {
        self.token = token
        self.push = push
    }
}
