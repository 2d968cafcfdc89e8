import Testing

@testable import Storage

@Suite struct DeviceTokenTests {
    @Test(arguments: [
        "0123456789abcdef0123456789abcdef0123456789abcdef01234567deadbeef", "DEADBEEF", "abcde", "00aa",
        String(repeating: "a", count: 512),
    ])
    func takesHexadecimalOfAnyLikelyLength(_ token: String) {
        #expect(DeviceToken.problem(inApple: token) == nil)
    }

    @Test(arguments: [
        "", "a", "abc", "token-1", "abcd efgh", "ａｂｃｄ", "ab\0d", "abcd\n", String(repeating: "a", count: 513),
    ])
    func refusesOthersWithoutSayingThem(_ token: String) throws {
        let problem = try #require(DeviceToken.problem(inApple: token))
        #expect(token.count < 3 || !problem.contains(token))
    }

    @Test(arguments: [
        ("0123456789abcdef0123456789abcdef0123456789abcdef01234567deadbeef", "deadbeef"),
        ("0123456789abcdef", "89abcdef"), ("0123456789abcde", "89abcde"), ("abcd", "cd"), ("a", ""), ("", ""),
    ])
    func showsHalfAtMost(_ token: String, _ shown: String) {
        #expect(DeviceToken.suffix(of: token) == shown)
        let device = PushToken(
            id: 1, did: "did:plc:a", token: token, platform: "apns", environment: "production", topic: nil, label: nil,
            locale: nil, createdAt: "", lastSeenAt: "")
        #expect("\(device)" == "…\(shown)")
    }
}
