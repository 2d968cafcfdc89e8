import ATProto
import Crypto
import Storage

/// What an app says of a device, checked: platform, token, environment, topic, label, locale.
struct DeviceInput: Sendable {
    /// How the operator has set up the platforms.
    struct Rules: Sendable {
        /// Of `apns`, `fcm` and `web`.
        var platforms: Set<String>
        /// `production` or `sandbox`: what a registration that names none is taken for.
        var environment: String
        /// This server's DID.
        var server: String
    }

    static let maximumTokenLength = 4096
    static let maximumLabelLength = 256

    let platform: String
    let token: String
    let environment: String
    let topic: String?
    let label: String?
    let locale: String?

    /// The input of `social.hatk.push.registerToken`.
    init(push body: JSONBody, _ rules: Rules) throws(XRPCError) {
        let platform = try body.text("platform", maximum: 16)
        guard platform == "apns" || platform == "fcm" || platform == "web" else {
            throw .invalidRequest("platform must be apns, fcm or web")
        }
        try self.init(platform: platform, topic: try body.optionalText("topic", maximum: 255), body, rules)
    }

    /// The input of `app.bsky.notification.registerPush`.
    init(notification body: JSONBody, _ rules: Rules) throws(XRPCError) {
        try self.init(
            platform: try Self.platform(notification: body, rules), topic: try body.text("appId", maximum: 255), body,
            rules)
    }

    /// The platform by our name, where the body is meant for this server.
    private static func platform(notification body: JSONBody, _ rules: Rules) throws(XRPCError) -> String {
        let service = try body.text("serviceDid", maximum: DID.maximumLength)
        guard service.utf8.elementsEqual(rules.server.utf8) else {
            throw .invalidRequest("serviceDid is not this server's")
        }
        switch try body.text("platform", maximum: 16) {
        case "ios": return "apns"
        case "android": return "fcm"
        case "web": return "web"
        default: throw .invalidRequest("platform must be ios, android or web")
        }
    }

    private init(platform: String, topic: String?, _ body: JSONBody, _ rules: Rules) throws(XRPCError) {
        guard rules.platforms.contains(platform) else {
            throw .invalidRequest("this server does not send to \(platform)")
        }
        self.platform = platform
        token = try Self.token(body, platform: platform)
        environment = try body.optionalText("environment", maximum: 16) ?? rules.environment
        guard environment == "production" || environment == "sandbox" else {
            throw .invalidRequest("environment must be production or sandbox")
        }
        self.topic = topic
        if let topic, !Self.isAppIdentifier(topic) {
            throw .invalidRequest("the app's identifier may hold letters, digits, dots, hyphens and underscores alone")
        }
        label = try body.optionalText("label", maximum: Self.maximumLabelLength)
        locale = try body.optionalText("locale", maximum: 64)
        if let locale, !Self.isLocale(locale) { throw .invalidRequest("locale must be a language tag, such as pt-BR") }
    }

    /// The token of a body, whatever the platform: for forgetting one.
    static func token(_ body: JSONBody) throws(XRPCError) -> String {
        try body.text("token", maximum: maximumTokenLength)
    }

    /// The same, where the body is meant for this server.
    static func token(notification body: JSONBody, _ rules: Rules) throws(XRPCError) -> String {
        _ = try platform(notification: body, rules)
        return try token(body)
    }

    private static func token(_ body: JSONBody, platform: String) throws(XRPCError) -> String {
        let token = try token(body)
        let problem =
            switch platform {
            case "apns": DeviceToken.problem(inApple: token)
            case "fcm": isRegistrationToken(token) ? nil : "the token is not one of fcm's"
            default: isSubscription(token) ? nil : "the token is not a browser's subscription"
            }
        if let problem { throw .invalidRequest(problem) }
        return token
    }

    /// Google documents no form; tokens are letters, digits and `-_:` to this day.
    private static func isRegistrationToken(_ token: String) -> Bool {
        token.utf8.allSatisfy { isAlphanumeric($0) || "-_:".utf8.contains($0) }
    }

    /// A browser's `PushSubscription` as JSON: an HTTPS endpoint, a P-256 point and a secret of 16 bytes (RFC 8291).
    private static func isSubscription(_ token: String) -> Bool {
        guard let subscription = try? JSON.decode([UInt8](token.utf8), as: .plain),
            let endpoint = subscription["endpoint"]?.string, endpoint.hasPrefix("https://"),
            endpoint.utf8.count > 8, endpoint.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
            let point = subscription["keys"]?["p256dh"]?.string.flatMap({
                try? Base64.decode($0, .url, padding: .optional)
            }),
            let secret = subscription["keys"]?["auth"]?.string.flatMap({
                try? Base64.decode($0, .url, padding: .optional)
            })
        else { return false }
        return point.count == 65 && secret.count == 16 && (try? PublicKey(.p256, point: point)) != nil
    }

    private static func isAppIdentifier(_ text: String) -> Bool {
        text.utf8.allSatisfy { isAlphanumeric($0) || ".-_".utf8.contains($0) }
    }

    private static func isLocale(_ text: String) -> Bool {
        let tags = text.utf8.split(omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        return tags.allSatisfy { 1...8 ~= $0.count && $0.allSatisfy(isAlphanumeric) }
            && tags.first?.allSatisfy { $0 >= UInt8(ascii: "A") } == true
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte
    }

    func registration(of did: DID) -> NewPushToken {
        NewPushToken(
            did: did.description, token: token, platform: platform, environment: environment, topic: topic,
            label: label, locale: locale)
    }
}
