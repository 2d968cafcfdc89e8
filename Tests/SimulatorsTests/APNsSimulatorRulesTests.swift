import Net
import TestSupport
import Testing

@testable import Simulators

@Suite(.fewAtATime) struct APNsSimulatorRulesTests {
    static let token = String(repeating: "0a", count: 32)

    private func reason(_ body: () throws(Refusal) -> Void) -> APNsReason? {
        do { try body() } catch { return error.reason }
        return nil
    }

    @Test(arguments: [
        ("GET", "/3/device/\(token)", APNsReason.methodNotAllowed), ("PUT", "/", .methodNotAllowed),
        ("POST", "/", .badPath), ("POST", "/4/device/aa", .badPath), ("POST", "/3/devices/aa", .badPath),
        ("POST", "/3/device", .missingDeviceToken), ("POST", "/3/device/", .missingDeviceToken),
    ])
    func refusesPaths(method: String, path: String, expected: APNsReason) {
        #expect(
            reason { () throws(Refusal) in _ = try RequestRules.deviceToken(method: method, path: path) } == expected)
    }

    @Test(arguments: [
        "", "zz", String(repeating: "0", count: 63), String(repeating: "0", count: 65), "\(token)?x=1", "\(token)/",
        String(repeating: "0g", count: 32), String(repeating: "0", count: 202), "0x" + token, "é" + token,
    ])
    func refusesTokens(_ token: String) {
        #expect(reason { () throws(Refusal) in try RequestRules.checkToken(token) } == .badDeviceToken)
    }

    @Test func lowersTokens() throws {
        let path = "/3/device/" + Self.token.uppercased()
        #expect(try RequestRules.deviceToken(method: "POST", path: path) == Self.token)
    }

    @Test(
        arguments: [
            (nil, nil, APNsReason.missingTopic), ("", nil, .badTopic), ("com example", nil, .badTopic),
            ("com.éxample", nil, .badTopic), (String(repeating: "a", count: 256), nil, .badTopic),
            ("com.example.app", "voip", .badTopic),
        ] as [(String?, String?, APNsReason)])
    func refusesTopics(topic: String?, pushType: String?, expected: APNsReason) {
        #expect(
            reason { () throws(Refusal) in _ = try RequestRules.bundleID(topic: topic, pushType: pushType) } == expected
        )
    }

    @Test func knowsTopicsOfPushTypes() throws {
        #expect(try RequestRules.bundleID(topic: "com.example.app", pushType: nil) == "com.example.app")
        for (type, suffix) in RequestRules.topicSuffixes {
            #expect(
                try RequestRules.bundleID(topic: "com.example.app" + suffix, pushType: type) == "com.example.app")
        }
    }

    @Test(arguments: [
        "", "1", "0A0B0C0D-0000-4000-8000-000000000000", "0a0b0c0d-0000-4000-8000-00000000000",
        "0a0b0c0d00004000800000000000000000", "0a0b0c0d-0000-4000-8000-00000000000g",
        "{0a0b0c0d-0000-4000-8000-000000000000}",
    ])
    func refusesIDs(_ id: String) {
        #expect(reason { () throws(Refusal) in try RequestRules.checkID(id) } == .badMessageID)
    }

    @Test(arguments: ["", "-1", "1.5", "1e9", " 1", "+1", "soon", "99999999999999999999"])
    func refusesExpirations(_ text: String) {
        #expect(reason { () throws(Refusal) in _ = try RequestRules.expiration(text) } == .badExpirationDate)
    }

    @Test(
        arguments: [
            ("0", "alert"), ("2", "alert"), ("high", nil), ("", nil), ("10", "background"), (nil, "background"),
            ("1", "background"), ("99999999999999999999", nil),
        ] as [(String?, String?)])
    func refusesPriorities(text: String?, pushType: String?) {
        #expect(
            reason { () throws(Refusal) in _ = try RequestRules.priority(text, pushType: pushType) } == .badPriority)
    }

    @Test func countsCollapseIDsInBytes() throws {
        let longest = String(repeating: "é", count: 32)
        #expect(try RequestRules.collapseID(Array(longest.utf8)) == longest)
        #expect(
            reason { () throws(Refusal) in _ = try RequestRules.collapseID(Array((longest + "a").utf8)) }
                == .badCollapseID)
        #expect(reason { () throws(Refusal) in _ = try RequestRules.collapseID([0xFF]) } == .badCollapseID)
    }

    /// Changes to a request's header list, and whether the list is then malformed.
    @Test(
        arguments: [
            [], [("apns-id", "x")], [("user-agent", "x")], [(":authority", "x")],
        ] as [[(String, String)]])
    func takesHeaders(_ more: [(String, String)]) {
        let fields = more.filter { $0.0.hasPrefix(":") } + Self.pseudo + more.filter { !$0.0.hasPrefix(":") }
        #expect(APNsRequest(headers: fields.map { HeaderField($0.0, $0.1) }, body: []).shapeFault == nil)
    }

    private static let pseudo = [(":method", "POST"), (":scheme", "https"), (":path", "/")]

    @Test(
        arguments: [
            [("a", "x"), (":authority", "x")], [(":status", "200")], [(":protocol", "x")], [("Apns-Id", "x")],
            [("", "x")],
            [("apns-channel", "x")], [("connection", "close")], [("keep-alive", "1")], [("upgrade", "h2c")],
        ] as [[(String, String)]])
    func findsMalformedHeaders(_ more: [(String, String)]) {
        let fields = (Self.pseudo + more).map { HeaderField($0.0, $0.1) }
        #expect(APNsRequest(headers: fields, body: []).shapeFault != nil)
    }

    @Test func missesNoPseudoHeader() {
        for place in Self.pseudo.indices {
            var fields = Self.pseudo.map { HeaderField($0.0, $0.1) }
            fields.remove(at: place)
            #expect(APNsRequest(headers: fields, body: []).shapeFault != nil)
        }
        let plain = [(":method", "POST"), (":scheme", "http"), (":path", "/")].map { HeaderField($0.0, $0.1) }
        #expect(APNsRequest(headers: plain, body: []).shapeFault != nil)
        let twice = (Self.pseudo + [("a", "1"), ("a", "2")]).map { HeaderField($0.0, $0.1) }
        #expect(APNsRequest(headers: twice, body: []).repeated == "a")
    }

    @Test(arguments: APNsReason.allCases) func everyReasonHasAStatus(_ reason: APNsReason) {
        #expect([400, 403, 404, 405, 410, 413, 429, 500, 503].contains(reason.status))
        #expect(APNsReason(status: reason.status)?.status == reason.status)
    }
}
