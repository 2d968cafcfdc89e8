import HookKit

/// A notification's JSON: `{"aps":{"alert":{"title":…,"body":…},"sound":"default"},…data}`, with what its options add
/// and whom it is for.
///
/// Source: developer.apple.com/documentation/usernotifications/generating-a-remote-notification
struct APNsPayload {
    /// Apple's limit for everything but VoIP.
    static let maximumBytes = 4096
    static let maximumBadge = Int(Int32.max)
    static let ellipsis = "…"
    private static let start = Array(#"{"aps":{"#.utf8)
    /// What a badge takes that is counted later: `"badge":2147483647,`.
    private static let badgeRoom = 19
    /// Room for the words of a usual alert, without its texts.
    private static let frameBytes = 80

    let bytes: [UInt8]

    /// Cuts at a grapheme what does not fit: the body first, the title when that is not enough. Leaves room for a badge
    /// that is counted later. The keys of `data` are sorted, so that equal notifications have equal bytes.
    init(_ notification: borrowing Notification, namesRecipient: Bool) throws(NotificationRefusal) {
        try Self.check(notification)
        let limit = Self.maximumBytes - (notification.badge?.isCountedLater == true ? Self.badgeRoom : 0)
        let (title, body) = (notification.title, notification.body)
        let members = Self.members(of: notification, namesRecipient)
        let whole = Self.assemble(notification, members, title: title, body: body)
        if whole.count <= limit {
            bytes = whole
            return
        }
        let frame = Self.assemble(notification, members, title: "", body: "").count
        let room = limit - frame
        guard room >= 0 else { throw .payloadTooLarge(frame, limit: limit) }
        // The title may have all that a body of one ellipsis leaves.
        let cutTitle = Self.cut(title, to: body.isEmpty ? room : max(room - Self.ellipsis.utf8.count, 0))
        let cutBody = Self.cut(body, to: room - JSONText.encodedCount(cutTitle))
        bytes = Self.assemble(notification, members, title: cutTitle, body: cutBody)
        guard bytes.count <= limit else { throw .payloadTooLarge(bytes.count, limit: limit) }
    }

    /// `payload` with a badge in front of the rest of its `aps`.
    static func adding(badge: Int, to payload: [UInt8]) -> [UInt8] {
        guard payload.starts(with: start) else { return payload }
        let isAlone = payload.dropFirst(start.count).first == UInt8(ascii: "}")
        return start + Array("\"badge\":\(badge)\(isAlone ? "" : ",")".utf8) + payload.dropFirst(start.count)
    }

    /// Whether nothing is left to say without the badge that could not be counted.
    static func isEmpty(_ payload: [UInt8]) -> Bool { payload.starts(with: start + [UInt8(ascii: "}")]) }

    /// Whether there is something to read.
    static func hasAlert(_ notification: Notification) -> Bool {
        !notification.title.isEmpty || !notification.body.isEmpty || notification.subtitle?.isEmpty == false
            || usesKeys(notification)
    }

    private static func usesKeys(_ notification: Notification) -> Bool {
        notification.titleLocKey != nil || notification.subtitleLocKey != nil || notification.locKey != nil
    }

    private static func check(_ notification: Notification) throws(NotificationRefusal) {
        guard !notification.data.contains(where: { $0.key == "aps" }) else { throw .dataHoldsAps }
        guard notification.isBackground || notification.badge != nil || hasAlert(notification) else {
            throw .emptyAlert
        }
        if case .number(let number)? = notification.badge, !(0...maximumBadge).contains(number) {
            throw .badge(number)
        }
        switch notification.sound {
        case .named(""), .critical(named: "", _): throw .emptySoundName
        case .critical(_, let volume) where !(0...1).contains(volume): throw .volume(volume)
        default: break
        }
    }
}

// MARK: Writing

extension APNsPayload {
    private typealias Member = (key: String, value: String)

    private static func assemble(
        _ notification: Notification, _ members: [Member], title: String, body: String
    ) -> [UInt8] {
        let size = members.reduce(title.utf8.count + body.utf8.count) {
            $0 + $1.key.utf8.count + $1.value.utf8.count + 6
        }
        var writer = JSONObjectWriter(capacity: frameBytes + size)
        writer.key("aps")
        writer.open()
        if !notification.isBackground {
            if hasAlert(notification) { writeAlert(notification, title: title, body: body, to: &writer) }
            writeOptions(notification, to: &writer)
        }
        if notification.isBackground || notification.contentAvailable { writer.member("content-available", 1) }
        if notification.mutableContent { writer.member("mutable-content", 1) }
        writer.close()
        for (key, value) in members { writer.member(named: key, value) }
        return writer.finish()
    }

    /// `data` as it is, and the recipient if wanted, so that an app with several accounts can tell whose the notification
    /// is: as `did`, or as `recipient` where `data` has a `did` of its own. Sorted by key.
    private static func members(of notification: Notification, _ namesRecipient: Bool) -> [Member] {
        var members: [Member] = []
        members.reserveCapacity(notification.data.count + 1)
        members += notification.data
        let did = members.first { $0.key == "did" }?.value
        let name = did == nil ? "did" : "recipient"
        if namesRecipient, did != notification.did, !members.contains(where: { $0.key == name }) {
            members.append((name, notification.did))
        }
        members.sort { $0.key < $1.key }
        return members
    }

    /// A localised key stands in for an empty text.
    private static func writeAlert(
        _ notification: Notification, title: String, body: String, to writer: inout JSONObjectWriter
    ) {
        let isPlain = !usesKeys(notification)
        writer.key("alert")
        writer.open()
        if isPlain || !notification.title.isEmpty { writer.member("title", title) }
        if let subtitle = notification.subtitle, !subtitle.isEmpty { writer.member("subtitle", subtitle) }
        if isPlain || !notification.body.isEmpty { writer.member("body", body) }
        writer.member("title-loc-key", notification.titleLocKey)
        writeArguments(notification.titleLocArgs, of: notification.titleLocKey, as: "title-loc-args", to: &writer)
        writer.member("subtitle-loc-key", notification.subtitleLocKey)
        writeArguments(
            notification.subtitleLocArgs, of: notification.subtitleLocKey, as: "subtitle-loc-args", to: &writer)
        writer.member("loc-key", notification.locKey)
        writeArguments(notification.locArgs, of: notification.locKey, as: "loc-args", to: &writer)
        writer.close()
    }

    private static func writeArguments(
        _ arguments: [String], of key: String?, as name: StaticString, to writer: inout JSONObjectWriter
    ) {
        if key != nil, !arguments.isEmpty { writer.member(name, arguments) }
    }

    private static func writeOptions(_ notification: Notification, to writer: inout JSONObjectWriter) {
        if case .number(let number)? = notification.badge { writer.member("badge", number) }
        switch notification.sound {
        case .default: writer.member("sound", "default")
        case .none: break
        case .named(let name): writer.member("sound", name)
        case .critical(let name, let volume):
            writer.key("sound")
            writer.open()
            writer.member("critical", 1)
            writer.member("name", name)
            writer.member("volume", volume)
            writer.close()
        }
        writer.member("thread-id", notification.threadID)
        writer.member("category", notification.category)
        writer.member("interruption-level", notification.interruptionLevel?.rawValue)
        if let score = notification.relevanceScore { writer.member("relevance-score", score) }
    }

    /// The longest run of whole graphemes that fits into `room` encoded bytes, with an ellipsis where something is missing.
    private static func cut(_ text: String, to room: Int) -> String {
        var used = 0
        // Where to cut so that the ellipsis still fits.
        var end = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            used += JSONText.encodedCount(text[index..<next])
            guard used <= room else { return room < ellipsis.utf8.count ? "" : text[..<end] + ellipsis }
            if used + ellipsis.utf8.count <= room { end = next }
            index = next
        }
        return text
    }
}

extension Notification.Badge {
    var isCountedLater: Bool {
        if case .number = self { false } else { true }
    }
}
