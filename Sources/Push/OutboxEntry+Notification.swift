import FoundationEssentials
import HookKit
import Storage

extension OutboxEntry {
    /// The entry of a notification.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - lifetime: milliseconds for which it is tried, unless it says otherwise itself.
    ///   - namesRecipient: whether the payload says whose it is.
    ///   - badges: keeps the closures that count badges.
    convenience init(
        _ notification: borrowing Notification, origin: SendOrigin, now: Int64, lifetime: Int64,
        namesRecipient: Bool, badges: BadgeClosures
    ) throws(NotificationRefusal) {
        let collapseID = notification.collapseID.flatMap { $0.isEmpty ? nil : $0 }
        if let collapseID { try Self.check(collapseID) }
        if let score = notification.relevanceScore, !(0...1).contains(score) { throw .relevanceScore(score) }
        if notification.isBackground { try Self.checkBackground(notification) }
        let expiresAt = try Self.end(of: notification, now: now) ?? now + lifetime
        guard expiresAt > now else { throw .expired }
        let payload = try APNsPayload(notification, namesRecipient: namesRecipient)
        let isBackground = notification.isBackground
        self.init(
            did: notification.did, hook: origin.hook, uri: origin.uri, rev: origin.rev, place: origin.place,
            dedupeID: notification.dedupeID.flatMap { $0.isEmpty ? nil : $0 }, type: notification.data["type"],
            payload: payload.bytes,
            collapseID: collapseID, priority: notification.priority?.rawValue ?? (isBackground ? 5 : 10),
            pushType: isBackground ? "background" : "alert", expiresAt: expiresAt,
            isOnce: notification.expiration == .once,
            badge: try notification.badge.flatMap { badge throws(NotificationRefusal) in try badges.stored(badge) })
    }

    private static func check(_ collapseID: String) throws(NotificationRefusal) {
        let bytes = collapseID.utf8
        if bytes.count > NotificationRefusal.maximumCollapseID { throw .collapseIDTooLong(bytes.count) }
        // A header field's value has no control characters and no space at its ends (RFC 9110 §5.5).
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) || bytes.first == 0x20 || bytes.last == 0x20 {
            throw .malformedCollapseID
        }
    }

    private static func checkBackground(_ notification: Notification) throws(NotificationRefusal) {
        if let priority = notification.priority, priority != .considerate { throw .backgroundPriority }
        if APNsPayload.hasAlert(notification) { throw .backgroundShows("title or body") }
        if notification.badge != nil { throw .backgroundShows("badge") }
        switch notification.sound {
        case .default, .none: break
        case .named, .critical: throw .backgroundShows("sound")
        }
    }

    /// Milliseconds since 1970 beyond which a notification has lost its use; nil when it does not say.
    private static func end(of notification: Notification, now: Int64) throws(NotificationRefusal) -> Int64? {
        switch notification.expiration {
        case nil, .once: return nil
        case .after(let duration):
            // A century is for ever, and fits.
            return now + min(duration, .seconds(3_155_760_000)).wholeMilliseconds
        case .at(let date):
            let milliseconds = date.timeIntervalSince1970 * 1000
            guard milliseconds > Double(now) else { throw .expired }
            return Int64(min(milliseconds, Double(now) + 3_155_760_000_000))
        }
    }
}
