/// Why a notification cannot be delivered to anybody: what Apple would refuse, and what could not arrive in time.
enum NotificationRefusal: Error, Hashable {
    case dataHoldsAps
    /// Bytes of the payload with nothing left to cut, and what is allowed.
    case payloadTooLarge(Int, limit: Int)
    case emptyAlert
    /// Bytes.
    case collapseIDTooLong(Int)
    case malformedCollapseID
    case relevanceScore(Double)
    case badge(Int)
    case badgeParameters
    case emptySoundName
    case volume(Double)
    case expired
    case backgroundPriority
    /// What a background push was to show.
    case backgroundShows(String)

    static let maximumCollapseID = 64

    /// The same for all notifications of a kind: what counters count by.
    var name: String {
        switch self {
        case .dataHoldsAps: "data holds aps"
        case .payloadTooLarge: "payload too large"
        case .emptyAlert: "empty alert"
        case .collapseIDTooLong, .malformedCollapseID: "collapseID"
        case .relevanceScore: "relevanceScore"
        case .badge, .badgeParameters: "badge"
        case .emptySoundName, .volume: "sound"
        case .expired: "expiration"
        case .backgroundPriority: "priority"
        case .backgroundShows: "background"
        }
    }
}

extension NotificationRefusal: CustomStringConvertible {
    var description: String {
        switch self {
        case .dataHoldsAps: "data may not hold \"aps\""
        case .payloadTooLarge(let count, let limit):
            "payload too large: \(count) bytes without title and body, of \(limit)"
        case .emptyAlert: "empty alert: it has neither title, body, localised key nor badge"
        case .collapseIDTooLong(let count): "collapseID too long: \(count) bytes of \(Self.maximumCollapseID)"
        case .malformedCollapseID: "collapseID may not hold control characters or begin or end with a space"
        case .relevanceScore(let score): "relevanceScore is \(score): it goes from 0 to 1"
        case .badge(let number): "badge is \(number): it goes from 0 to \(APNsPayload.maximumBadge)"
        case .badgeParameters: "badge has a parameter that is no finite number"
        case .emptySoundName: "sound has an empty name"
        case .volume(let volume): "sound has the volume \(volume): it goes from 0 to 1"
        case .expired: "expiration has passed"
        case .backgroundPriority: "priority of a background push must be 5"
        case .backgroundShows(let what): "a background push shows nothing, but has a \(what)"
        }
    }
}
