import HookKit

/// A notification as an operator writes one by hand.
public struct DirectMessage: Sendable {
    /// The recipient.
    public var did: String
    public var title = ""
    public var subtitle: String?
    public var body = ""
    public var data: [String: String] = [:]
    public var collapseID: String?
    public var threadID: String?
    public var category: String?
    /// A sound file of the app's, `default` or `none`.
    public var sound = "default"
    public var badge: Int?
    /// `immediate`, `considerate` or `low`; nil as `push.send` has it.
    public var priority: String?
    /// nil: the configuration's `push.lifetime`.
    public var lifetime: Duration?
    /// Wakes the app and shows nothing.
    public var isBackground = false

    public init(did: String) { self.did = did }

    static let priorities: KeyValuePairs<String, Notification.Priority> = [
        "immediate": .immediate, "considerate": .considerate, "low": .low,
    ]

    /// - Throws: an `OperatorError` for what no notification can be.
    func notification() throws(OperatorError) -> Notification {
        guard NewDevice.isDID(did) else { throw OperatorError("\"\(did)\" is not a DID") }
        var notification = Notification(did: did, title: title, body: body, data: data, collapseID: collapseID)
        notification.subtitle = subtitle
        notification.threadID = threadID
        notification.category = category
        notification.badge = badge.map { .number($0) }
        notification.expiration = lifetime.map { .after($0) }
        notification.isBackground = isBackground
        switch sound {
        case "default": break
        case "none": notification.sound = .none
        default: notification.sound = .named(sound)
        }
        if let priority {
            guard let known = Self.priorities.first(where: { $0.key == priority }) else {
                let names = Self.priorities.map(\.key).joined(separator: ", ")
                throw OperatorError("\"\(priority)\" is no priority: there are \(names)")
            }
            notification.priority = known.value
        }
        return notification
    }
}
