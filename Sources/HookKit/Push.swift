import FoundationEssentials

/// Sends notifications to a person's devices.
public protocol Push: Sendable {
    /// Queues `notification` for every device of its recipient. Returns at once, never throws;
    /// what cannot be sent is reported through `emit`.
    func send(_ notification: Notification)
}

extension Push {
    /// Queues an alert. The parameters are those of `Notification`.
    ///
    /// ```swift
    /// context.push.send(did: author, title: "New comment", body: text, data: ["uri": context.uri],
    ///     dedupeID: "mention-\(context.uri)", threadID: subject,
    ///     badge: .sql("SELECT count(*) FROM unread WHERE did = $1", [author]))
    /// ```
    public func send(
        did: String, title: String = "", body: String = "", data: [String: String] = [:], subtitle: String? = nil,
        dedupeID: String? = nil, collapseID: String? = nil, threadID: String? = nil,
        sound: Notification.Sound = .default, badge: Notification.Badge? = nil, category: String? = nil,
        priority: Notification.Priority? = nil, expiration: Notification.Expiration? = nil,
        mutableContent: Bool = false, contentAvailable: Bool = false,
        interruptionLevel: Notification.InterruptionLevel? = nil,
        relevanceScore: Double? = nil, titleLocKey: String? = nil, titleLocArgs: [String] = [],
        subtitleLocKey: String? = nil, subtitleLocArgs: [String] = [], locKey: String? = nil, locArgs: [String] = []
    ) {
        var notification = Notification(did: did, title: title, body: body, data: data, collapseID: collapseID)
        notification.subtitle = subtitle
        notification.dedupeID = dedupeID
        notification.threadID = threadID
        notification.sound = sound
        notification.badge = badge
        notification.category = category
        notification.priority = priority
        notification.expiration = expiration
        notification.mutableContent = mutableContent
        notification.contentAvailable = contentAvailable
        notification.interruptionLevel = interruptionLevel
        notification.relevanceScore = relevanceScore
        notification.titleLocKey = titleLocKey
        notification.titleLocArgs = titleLocArgs
        notification.subtitleLocKey = subtitleLocKey
        notification.subtitleLocArgs = subtitleLocArgs
        notification.locKey = locKey
        notification.locArgs = locArgs
        send(notification)
    }

    /// Queues a background push: it wakes the app for some seconds and shows nothing.
    ///
    /// Apple delivers few of them, at a time of its own choosing.
    public func sendBackground(
        did: String, data: [String: String] = [:], dedupeID: String? = nil, collapseID: String? = nil,
        expiration: Notification.Expiration? = nil
    ) {
        var notification = Notification.background(did: did, data: data)
        notification.dedupeID = dedupeID
        notification.collapseID = collapseID
        notification.expiration = expiration
        send(notification)
    }
}
