/// What Apple asks of a request besides its provider token.
///
/// Source: developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
enum RequestRules {
    static let maximumPayload = 4096
    static let maximumVoIPPayload = 5120
    static let maximumCollapseID = 64
    /// Hexadecimal digits of a device token. Apple promises no length; 32 bytes are usual, 100 the most ever announced.
    static let tokenDigits = 64...200

    /// The push types, with what their topics end in.
    static let topicSuffixes: [String: String] = [
        "alert": "", "background": "", "mdm": "",
        "voip": ".voip", "complication": ".complication", "fileprovider": ".pushkit.fileprovider",
        "liveactivity": ".push-type.liveactivity", "location": ".location-query", "pushtotalk": ".voip-ptt",
        "widgets": ".push-type.widgets", "controls": ".push-type.controls",
    ]

    /// The device token of `/3/device/TOKEN`, in lower case.
    static func deviceToken(method: String, path: String) throws(Refusal) -> String {
        guard method == "POST" else { throw Refusal(.methodNotAllowed, "the method is not POST") }
        let prefix = "/3/device"
        guard path.hasPrefix(prefix) else { throw Refusal(.badPath, "the path is not /3/device/TOKEN") }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty || rest == "/" { throw Refusal(.missingDeviceToken, "no token in the path") }
        guard rest.first == "/" else { throw Refusal(.badPath, "the path is not /3/device/TOKEN") }
        return rest.dropFirst().lowercased()
    }

    static func checkToken(_ token: String) throws(Refusal) {
        let isHex = token.utf8.allSatisfy {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        }
        guard isHex, token.utf8.count.isMultiple(of: 2) else {
            throw Refusal(.badDeviceToken, "the token is not hexadecimal")
        }
        guard tokenDigits ~= token.utf8.count else { throw Refusal(.badDeviceToken, "no token has this length") }
    }

    /// The topic without its push type's suffix.
    static func bundleID(topic: String?, pushType: String?) throws(Refusal) -> String {
        guard let topic else { throw Refusal(.missingTopic, "no apns-topic") }
        let isName = topic.utf8.allSatisfy {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20
                || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        }
        guard isName, 1...255 ~= topic.utf8.count else { throw Refusal(.badTopic, "the topic is no bundle id") }
        let suffix = topicSuffixes[pushType ?? "alert"] ?? ""
        guard topic.hasSuffix(suffix) else { throw Refusal(.badTopic, "the topic of this push type ends in \(suffix)") }
        return String(topic.dropLast(suffix.count))
    }

    static func checkID(_ id: String?) throws(Refusal) {
        guard let id else { return }
        let bytes = Array(id.utf8)
        let isUUID =
            bytes.count == 36
            && bytes.enumerated().allSatisfy { place, byte in
                switch place {
                case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                default:
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
                }
            }
        guard isUUID else { throw Refusal(.badMessageID, "apns-id is not a lowercase UUID") }
    }

    static func expiration(_ text: String?) throws(Refusal) -> Int64? {
        guard let text else { return nil }
        guard let seconds = decimal(text) else {
            throw Refusal(.badExpirationDate, "apns-expiration is not a whole number of seconds")
        }
        return seconds
    }

    static func pushType(_ text: String?) throws(Refusal) -> String? {
        guard let text else { return nil }
        guard topicSuffixes[text] != nil else { throw Refusal(.invalidPushType, "unknown apns-push-type") }
        return text
    }

    static func priority(_ text: String?, pushType: String?) throws(Refusal) -> Int? {
        let priority = text.map { decimal($0) }
        guard priority == nil || [10, 5, 1].contains(priority) else {
            throw Refusal(.badPriority, "apns-priority is not 10, 5 or 1")
        }
        // Without the header the priority is 10, which Apple calls an error for background pushes.
        if pushType == "background", priority != 5 { throw Refusal(.badPriority, "background pushes need priority 5") }
        return priority?.map { Int($0) }
    }

    static func collapseID(_ bytes: [UInt8]?) throws(Refusal) -> String? {
        guard let bytes else { return nil }
        guard bytes.count <= maximumCollapseID else {
            throw Refusal(.badCollapseID, "apns-collapse-id is longer than 64 bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(.badCollapseID, "apns-collapse-id is not UTF-8")
        }
        return text
    }

    /// Digits alone, without sign or space.
    private static func decimal(_ text: String) -> Int64? {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int64(text) : nil
    }
}
