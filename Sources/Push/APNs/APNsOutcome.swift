/// What an answer of APNs means. A pure function of the answer and of the row it was for.
///
/// | answer | outcome |
/// |---|---|
/// | 200 | `sent` |
/// | 410 | `removeToken` if registered before Apple's timestamp, else `dead` |
/// | 400 BadDeviceToken | `badToken` |
/// | 400 or 403 TopicDisallowed | `stopKey`; `dead` when the topic is the token's own |
/// | other 400, 404, 405, 413 and below 500 | `dead` |
/// | 403 ExpiredProviderToken | `refreshToken` |
/// | 403 with a word that names the key's environment | `stopKey` in that environment |
/// | 403 with another documented word | `stopKey` everywhere |
/// | 403 otherwise | `doubtKey` |
/// | 429 TooManyProviderTokenUpdates | `pauseConnection` |
/// | other 429 | `throttled` |
/// | 500 and above | `retry` |
///
/// Source: developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
enum APNsOutcome: Sendable, Hashable {
    case sent
    /// The token is dead, if it was last registered before that time (milliseconds since 1970).
    case removeToken(registeredBefore: Int64)
    /// Dead, unless very many are: then the key or the environment is wrong. See `BadTokenRun`.
    case badToken
    /// Ours to fix. The token stays.
    case dead
    /// The provider token has expired: once more with a new one, on a new connection.
    case refreshToken
    /// No push can succeed with this key, in this environment or in any.
    case stopKey(everywhere: Bool)
    /// A 403 that does not say why: again later, and `stopKey` after some in a row.
    case doubtKey
    /// The connection is of no use for a while. Milliseconds that the gateway asks for.
    case pauseConnection(retryAfter: Int64?)
    /// That device takes no more for a while.
    case throttled(retryAfter: Int64?)
    /// The gateway is in trouble.
    case retry(retryAfter: Int64?)

    /// - Parameters:
    ///   - registeredAt: when the token was last registered, in milliseconds since 1970.
    ///   - sentAt: when the request went out; stands in for a missing timestamp.
    ///   - hasOwnTopic: the token names a topic other than the configured bundle id.
    init(_ answer: APNsAnswer, registeredAt: Int64, sentAt: Int64, hasOwnTopic: Bool) {
        switch (answer.status, answer.reason) {
        case (200, _):
            self = .sent
        case (410, _):
            // Registered in the very millisecond of the request is registered before its answer.
            let before = answer.timestamp ?? sentAt + 1
            self = registeredAt < before ? .removeToken(registeredBefore: before) : .dead
        case (400, "BadDeviceToken"):
            self = .badToken
        case (400, "TopicDisallowed"), (403, "TopicDisallowed"):
            self = hasOwnTopic ? .dead : .stopKey(everywhere: true)
        case (403, "ExpiredProviderToken"):
            self = .refreshToken
        case (403, let reason?):
            self = Self.refusedKey(reason)
        case (403, nil):
            self = .doubtKey
        case (429, "TooManyProviderTokenUpdates"):
            self = .pauseConnection(retryAfter: answer.retryAfter)
        case (429, _):
            self = .throttled(retryAfter: answer.retryAfter)
        case (500..., _):
            self = .retry(retryAfter: answer.retryAfter)
        default:
            self = .dead
        }
    }

    /// Whether an answer that makes a row dead finds fault with what the device was registered with, as
    /// `DeviceTokenNotForTopic` does: the same token will fail again.
    static func isFault(_ reason: String, ofTokenWithOwnTopic hasOwnTopic: Bool) -> Bool {
        switch reason {
        case "DeviceTokenNotForTopic": true
        case "BadTopic", "TopicDisallowed": hasOwnTopic
        default: false
        }
    }

    private static func refusedKey(_ reason: String) -> APNsOutcome {
        switch reason {
        case "BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken", "BadCertificateEnvironment":
            .stopKey(everywhere: false)
        case "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken", "Forbidden", "BadCertificate":
            .stopKey(everywhere: true)
        default:
            .doubtKey
        }
    }
}
