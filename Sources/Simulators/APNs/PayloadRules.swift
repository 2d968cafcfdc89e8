/// What Apple asks of a payload.
///
/// Apple documents no reason for a payload of the wrong shape; its nearest word is PayloadEmpty.
/// Source: developer.apple.com/documentation/usernotifications/generating-a-remote-notification
enum PayloadRules {
    /// - Parameter parsed: what `PayloadParser` made of the bytes.
    static func check(
        _ bytes: [UInt8], parsed: Result<PayloadValue, PayloadParser.Failure>, pushType: String?
    ) throws(Refusal) {
        guard !bytes.isEmpty else { throw Refusal(.payloadEmpty, "no payload") }
        let limit = pushType == "voip" ? RequestRules.maximumVoIPPayload : RequestRules.maximumPayload
        guard bytes.count <= limit else {
            throw Refusal(.payloadTooLarge, "\(bytes.count) bytes, \(limit) are allowed")
        }
        let payload: PayloadValue
        do { payload = try parsed.get() } catch {
            throw Refusal(.payloadEmpty, "the payload is not JSON: \(error)")
        }
        guard payload.object != nil else { throw Refusal(.payloadEmpty, "the payload is not a JSON object") }
        // A device management push carries its own keys instead.
        if pushType == "mdm" { return }
        guard let aps = payload["aps"]?.object else { throw Refusal(.payloadEmpty, "aps is not an object") }
        for member in aps { try check(member) }
    }

    private static func check(_ member: PayloadValue.Member) throws(Refusal) {
        guard isWellFormed(member.key, member.value) else {
            throw Refusal(.payloadEmpty, "aps.\(member.key) has the wrong shape")
        }
    }

    private static func isWellFormed(_ key: String, _ value: PayloadValue) -> Bool {
        switch key {
        case "alert": value.string != nil || value.object.map { $0.allSatisfy(isWellFormedInAlert) } ?? false
        case "sound": value.string != nil || value.object != nil && isSound(value)
        case "badge": value.integer.map { $0 >= 0 } ?? false
        case "thread-id", "category", "target-content-id", "filter-criteria": value.string != nil
        case "content-available", "mutable-content": value.integer.map { 0...1 ~= $0 } ?? false
        case "interruption-level":
            value.string.map { ["passive", "active", "time-sensitive", "critical"].contains($0) } ?? false
        case "relevance-score": value.number != nil
        default: true
        }
    }

    private static func isWellFormedInAlert(_ member: PayloadValue.Member) -> Bool {
        switch member.key {
        case "title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key",
            "action-loc-key":
            member.value.string != nil
        case "title-loc-args", "subtitle-loc-args", "loc-args":
            if case .array(let values) = member.value { values.allSatisfy { $0.string != nil } } else { false }
        default: true
        }
    }

    /// `{"critical": 0|1, "name": text, "volume": 0…1}`
    private static func isSound(_ sound: PayloadValue) -> Bool {
        (sound["name"].map { $0.string != nil } ?? true)
            && (sound["critical"].map { $0.integer.map { 0...1 ~= $0 } ?? false } ?? true)
            && (sound["volume"].map { $0.number.map { 0...1 ~= $0 } ?? false } ?? true)
    }
}
