/// Judges one request in the order in which Apple's gateway does: method and path, provider token, the rest.
struct RequestJudge {
    /// Tokens that exist no more, and those that never did, in lower case.
    var deadTokens: [String: Int64]
    var badTokens: Set<String>
    /// The one topic that a token belongs to, for tokens of another app.
    var tokenTopics: [String: String]
    /// Topics that any provider may push to.
    var topics: Set<String>
    var isStrict: Bool

    /// Fills `push` with what the request says, as far as it can be read, and throws what is wrong with it.
    func judge(
        _ request: APNsRequest, parsed: Result<PayloadValue, PayloadParser.Failure>, check: inout ProviderTokenCheck,
        into push: inout ReceivedPush
    ) throws(Refusal) {
        push.topic = request.topic
        push.pushType = request.pushType
        push.collapseID = request.collapseID.map { String(decoding: $0, as: UTF8.self) }
        push.priority = request.priority.flatMap { Int($0) }
        push.expiration = request.expiration.flatMap { Int64($0) }
        push.token = try RequestRules.deviceToken(method: request.method, path: request.path)
        if let name = request.repeated { throw Refusal(.duplicateHeaders, "\(name) stands twice") }
        let provider = try check.provider(for: request.authorization, nowMilliseconds: push.timeMilliseconds)
        let pushType = try RequestRules.pushType(request.pushType)
        let bundleID = try RequestRules.bundleID(topic: request.topic, pushType: pushType)
        guard bundleID == provider.topic || topics.contains(bundleID) else {
            throw Refusal(.topicDisallowed, "the provider may not push to this topic")
        }
        if isStrict { try RequestRules.checkID(request.id) }
        _ = try RequestRules.expiration(request.expiration)
        _ = try RequestRules.priority(request.priority, pushType: pushType)
        _ = try RequestRules.collapseID(request.collapseID)
        try PayloadRules.check(request.body, parsed: parsed, pushType: pushType)
        try checkDevice(push.token, bundleID: bundleID)
    }

    private func checkDevice(_ token: String, bundleID: String) throws(Refusal) {
        try RequestRules.checkToken(token)
        if badTokens.contains(token) { throw Refusal(.badDeviceToken, "the token is not of this environment") }
        if let topic = tokenTopics[token], topic != bundleID {
            throw Refusal(.deviceTokenNotForTopic, "the token belongs to another topic")
        }
        if let died = deadTokens[token] {
            throw Refusal(.unregistered, "the token is dead", timestampMilliseconds: died)
        }
    }
}
