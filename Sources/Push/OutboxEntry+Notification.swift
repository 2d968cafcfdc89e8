import HookKit
import Storage

/// Why a notification cannot be delivered to anybody.
struct NotificationRefusal: Error, Hashable, CustomStringConvertible {
    var description: String
}

extension OutboxEntry {
    /// Apple's limit, in bytes of UTF-8.
    private static let maximumCollapseID = 64

    /// The entry of a visible alert, to be delivered at once.
    init(_ notification: Notification, origin: SendOrigin, expiresAt: Int64) throws {
        let collapseID = notification.collapseID.flatMap { $0.isEmpty ? nil : $0 }
        if let collapseID { try Self.check(collapseID) }
        let payload = try APNsPayload(
            title: notification.title, body: notification.body, data: notification.data)
        self.init(
            did: notification.did, hook: origin.hook, uri: origin.uri, rev: origin.rev, place: origin.place,
            payload: payload.bytes, collapseID: collapseID, priority: 10, pushType: "alert", expiresAt: expiresAt)
    }

    private static func check(_ collapseID: String) throws(NotificationRefusal) {
        let bytes = collapseID.utf8
        if bytes.count > maximumCollapseID {
            throw NotificationRefusal(
                description: "collapseID too long: \(bytes.count) bytes of \(maximumCollapseID)")
        }
        // A header field's value has no control characters and no space at its ends (RFC 9110 §5.5).
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) || bytes.first == 0x20 || bytes.last == 0x20 {
            throw NotificationRefusal(
                description: "collapseID may not hold control characters or begin or end with a space")
        }
    }
}
