import Net
import Simulators
import Testing

@testable import Push

struct OutcomeTests {
    private static let registered: Int64 = 1_700_000_000_000
    private static let sent: Int64 = 1_800_000_000_000

    private func outcome(
        _ status: Int, _ reason: String? = nil, timestamp: Int64? = nil, retryAfter: Int64? = nil,
        ownTopic: Bool = false
    ) -> APNsOutcome {
        APNsOutcome(
            APNsAnswer(status: status, reason: reason, timestamp: timestamp, retryAfter: retryAfter),
            registeredAt: Self.registered, sentAt: Self.sent, hasOwnTopic: ownTopic)
    }

    /// Every reason that Apple documents, and the outcome of DESIGN's table.
    private static let documented: [String: APNsOutcome] = [
        "BadCollapseId": .dead, "BadDeviceToken": .badToken, "BadExpirationDate": .dead, "BadMessageId": .dead,
        "BadPriority": .dead, "BadTopic": .dead, "DeviceTokenNotForTopic": .dead, "DuplicateHeaders": .dead,
        "IdleTimeout": .dead, "InvalidPushType": .dead, "MissingDeviceToken": .dead, "MissingTopic": .dead,
        "PayloadEmpty": .dead, "TopicDisallowed": .stopKey(everywhere: true),
        "BadCertificate": .stopKey(everywhere: true), "BadCertificateEnvironment": .stopKey(everywhere: false),
        "ExpiredProviderToken": .refreshToken, "Forbidden": .stopKey(everywhere: true),
        "InvalidProviderToken": .stopKey(everywhere: true), "MissingProviderToken": .stopKey(everywhere: true),
        "UnrelatedKeyIdInToken": .stopKey(everywhere: true),
        "BadEnvironmentKeyIdInToken": .stopKey(everywhere: false), "BadPath": .dead, "MethodNotAllowed": .dead,
        "ExpiredToken": .removeToken(registeredBefore: registered + 5),
        "Unregistered": .removeToken(registeredBefore: registered + 5), "PayloadTooLarge": .dead,
        "TooManyProviderTokenUpdates": .pauseConnection(retryAfter: 7000),
        "TooManyRequests": .throttled(retryAfter: 7000),
        "InternalServerError": .retry(retryAfter: 7000), "ServiceUnavailable": .retry(retryAfter: 7000),
        "Shutdown": .retry(retryAfter: 7000),
    ]

    @Test(arguments: APNsReason.allCases)
    func knowsEveryDocumentedReason(_ reason: APNsReason) {
        let result = outcome(reason.status, reason.rawValue, timestamp: Self.registered + 5, retryAfter: 7000)
        #expect(result == Self.documented[reason.rawValue])
    }

    @Test func comparesAppleTimeWithTheRegistration() {
        let registered = Self.registered
        #expect(
            outcome(410, "Unregistered", timestamp: registered + 1) == .removeToken(registeredBefore: registered + 1))
        #expect(outcome(410, "Unregistered", timestamp: registered) == .dead)
        #expect(outcome(410, "ExpiredToken", timestamp: registered - 1) == .dead)
        // Seconds, where milliseconds are promised, lie long before any registration.
        #expect(outcome(410, "Unregistered", timestamp: registered / 1000 + 5) == .dead)
        #expect(outcome(410, "Unregistered") == .removeToken(registeredBefore: Self.sent + 1))
        #expect(outcome(410) == .removeToken(registeredBefore: Self.sent + 1))
    }

    @Test func blamesATokensOwnTopicOnTheToken() {
        #expect(outcome(400, "TopicDisallowed", ownTopic: true) == .dead)
        #expect(outcome(403, "TopicDisallowed", ownTopic: true) == .dead)
        #expect(outcome(403, "TopicDisallowed") == .stopKey(everywhere: true))
    }

    @Test func readsUnknownAnswersByTheirStatus() {
        #expect(outcome(200) == .sent)
        for status in [301, 400, 401, 404, 405, 413, 418, 421] { #expect(outcome(status, "NewWord") == .dead) }
        #expect(outcome(403) == .doubtKey)
        #expect(outcome(403, "NewWord") == .doubtKey)
        #expect(outcome(403, "BadEnvironmentKeyInToken") == .stopKey(everywhere: false))
        #expect(outcome(429) == .throttled(retryAfter: nil))
        for status in [500, 502, 503, 504, 599] { #expect(outcome(status, "NewWord") == .retry(retryAfter: nil)) }
        // A word without its status says nothing of the token.
        #expect(outcome(404, "BadDeviceToken") == .dead)
        #expect(outcome(500, "Unregistered") == .retry(retryAfter: nil))
    }
}

struct AnswerTests {
    private static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    @Test(
        arguments: [
            ("", nil, nil), ("<html><body>502 Bad Gateway</body></html>", nil, nil), ("null", nil, nil),
            ("[]", nil, nil),
            (#"{"reason":"BadDeviceToken"}"#, "BadDeviceToken", nil),
            (#"{"reason":"Unregistered","timestamp":1454948015990}"#, "Unregistered", 1_454_948_015_990),
            (#"{"timestamp":1.454948015990E12}"#, nil, 1_454_948_015_990),
            (#"{"reason":"Unregistered","timestamp":"soon"}"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":1e300}"#, "Unregistered", nil),
            (#"{"reason":null,"timestamp":null}"#, nil, nil), (#"{"reason":17}"#, nil, nil),
            (#"{"reason":""}"#, nil, nil),
            (#"{"reason":"BadDeviceToken"#, nil, nil), ("{\"reason\":\"\u{0}\"}", nil, nil),
            (#"{"reason":"no word 00fc13adff785122"}"#, nil, nil), ("{\"reason\":\"\(token)\"}", nil, nil),
            (#"{"reason":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"#, nil, nil),
        ] as [(String, String?, Int64?)])
    func readsWhatCanBeRead(_ body: String, _ reason: String?, _ timestamp: Int64?) {
        let answer = APNsAnswer(status: 410, body: Array(body.utf8), now: 0)
        #expect(answer.status == 410)
        #expect(answer.reason == reason)
        #expect(answer.timestamp == timestamp)
        #expect(answer.label == reason ?? "HTTP 410")
    }

    @Test func survivesBytesThatAreNoText() {
        #expect(APNsAnswer(status: 503, body: [0xFF, 0xFE, 0x00, 0x80], now: 0).label == "HTTP 503")
        let deep = Array(repeating: UInt8(ascii: "["), count: 60_000)
        #expect(APNsAnswer(status: 503, body: deep, now: 0).label == "HTTP 503")
    }

    @Test func waitsOnlyWhereWaitingHelps() {
        let header = [HeaderField("retry-after", "3")]
        #expect(APNsAnswer(status: 503, headers: header, body: [], now: 0).retryAfter == 3000)
        #expect(APNsAnswer(status: 429, headers: header, body: [], now: 0).retryAfter == 3000)
        #expect(APNsAnswer(status: 400, headers: header, body: [], now: 0).retryAfter == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("120", 120_000), ("99999999999999999999", 86_400_000), ("-1", nil), ("1.5", nil), ("", nil),
            ("soon", nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 37_000), ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
            ("Mon, 07 Nov 2094 08:49:37 GMT", 86_400_000), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
            ("Sun, 06 Foo 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 25:49:37 GMT", nil),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Tue, 29 Feb 1994 x GMT", nil),
        ] as [(String, Int64?)])
    func readsRetryAfter(_ text: String, _ milliseconds: Int64?) {
        // 1994-11-06T08:49:00Z, as `date -u -d … +%s` has it.
        #expect(RetryAfter(text, now: 784_111_740_000)?.milliseconds == milliseconds)
    }
}
