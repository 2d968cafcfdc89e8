import FoundationEssentials
import HookKit
import Storage
import Testing

@testable import Push

struct PayloadTests {
    private struct Shape: Codable, Equatable {
        struct APS: Codable, Equatable {
            struct Alert: Codable, Equatable {
                var title: String
                var body: String
            }
            var alert: Alert
            var sound: String
        }
        var aps: APS
        var uri: String?
    }

    private func read(_ payload: APNsPayload) throws -> Shape {
        try JSONDecoder().decode(Shape.self, from: Data(payload.bytes))
    }

    @Test func hasTheDocumentedBytes() throws {
        let payload = try APNsPayload(title: "New favorite", body: "Ann", data: ["uri": "at://x", "type": "t"])
        let text = String(decoding: payload.bytes, as: UTF8.self)
        #expect(
            text
                == #"{"aps":{"alert":{"title":"New favorite","body":"Ann"},"sound":"default"},"did":"did:plc:a","type":"t","uri":"at://x"}"#
        )
    }

    /// `data` wins: whom a payload is for stands where `data` has left room, and whatever `data` holds is unchanged.
    @Test(arguments: [
        ([:], #""did":"did:plc:a""#), (["did": "did:plc:b"], #""did":"did:plc:b","recipient":"did:plc:a""#),
        (["did": "did:plc:a"], #""did":"did:plc:a""#), (["did": ""], #""did":"","recipient":"did:plc:a""#),
        (["did": "x", "recipient": "y"], #""did":"x","recipient":"y""#),
        (["recipient": "y"], #""did":"did:plc:a","recipient":"y""#),
        (["e": "1", "c": "2"], #""c":"2","did":"did:plc:a","e":"1""#),
    ])
    func namesItsRecipient(_ data: [String: String], _ members: String) throws {
        let payload = try APNsPayload(title: "t", body: "b", data: data)
        let start = #"{"aps":{"alert":{"title":"t","body":"b"},"sound":"default"},"#
        #expect(String(decoding: payload.bytes, as: UTF8.self) == start + members + "}")
    }

    @Test func holdsDataAloneInAReplay() throws {
        let payload = try APNsPayload(title: "t", body: "b", data: ["uri": "at://x"], namesRecipient: false)
        let text = #"{"aps":{"alert":{"title":"t","body":"b"},"sound":"default"},"uri":"at://x"}"#
        #expect(String(decoding: payload.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        ("plain", "plain"), ("\"\\", #"\"\\"#), ("\0", #"\u0000"#), ("\u{1F}\u{7F}", "\\u001f\u{7F}"),
        ("\n\r\t\u{8}\u{C}", #"\n\r\t\b\f"#), ("/é\u{2028}👩‍👩‍👧\u{202E}", "/é\u{2028}👩‍👩‍👧\u{202E}"),
    ])
    func escapesOnlyWhatMustBe(_ text: String, _ expected: String) throws {
        // Behind so many others, for several are looked at at once; into memory that suffices, and that does not.
        for shift in 0...8 {
            let text = String(repeating: "x", count: shift) + text + String(repeating: "y", count: 8 - shift)
            let expected = String(repeating: "x", count: shift) + expected + String(repeating: "y", count: 8 - shift)
            for capacity in [0, 9, 256] {
                var writer = JSONObjectWriter(capacity: capacity)
                writer.member(named: text, text)
                let bytes = writer.finish()
                #expect(String(decoding: bytes, as: UTF8.self) == #"{"\#(expected)":"\#(expected)"}"#)
                #expect(bytes.count == 2 * JSONText.encodedCount(text) + 7)
                #expect(try JSONDecoder().decode([String: String].self, from: Data(bytes)) == [text: text])
            }
        }
    }

    @Test(arguments: ["a", "é", "👩‍👩‍👧‍👦", "\"", "\0", "e\u{301}", "🇩🇪"], 0...5)
    func cutsTheBodyAtAGrapheme(_ grapheme: String, _ shift: Int) throws {
        let body = String(repeating: "x", count: shift) + String(repeating: grapheme, count: 5000)
        let payload = try APNsPayload(title: "Title", body: body, data: ["uri": "at://x"])
        #expect(payload.bytes.count <= APNsPayload.maximumBytes)
        // No grapheme more would have fitted.
        #expect(payload.bytes.count > APNsPayload.maximumBytes - max(JSONText.encodedCount(grapheme), 3) - 3)
        let alert = try read(payload).aps.alert
        #expect(alert.title == "Title")
        #expect(alert.body.last == "…")
        #expect(body.hasPrefix(alert.body.dropLast()))
        #expect(alert.body.dropLast().dropFirst(shift).allSatisfy { $0 == Character(grapheme) })
    }

    @Test func leavesWhatJustFits() throws {
        let frame = try APNsPayload(title: "T", body: "", data: [:]).bytes.count
        let room = APNsPayload.maximumBytes - frame
        let fitting = String(repeating: "b", count: room)
        #expect(try read(APNsPayload(title: "T", body: fitting, data: [:])).aps.alert.body == fitting)
        let cut = try APNsPayload(title: "T", body: fitting + "b", data: [:])
        #expect(cut.bytes.count == APNsPayload.maximumBytes)
        #expect(try read(cut).aps.alert.body == fitting.dropLast(3) + "…")
    }

    @Test func cutsTheTitleWhenTheBodyIsNotEnough() throws {
        let title = String(repeating: "t", count: 6000)
        let alert = try read(APNsPayload(title: title, body: "body", data: [:])).aps.alert
        #expect(alert.body == "…")
        #expect(alert.title.last == "…")
        #expect(alert.title.count > 3900)
        #expect(try read(APNsPayload(title: title, body: "", data: [:])).aps.alert.body == "")
    }

    @Test func cutsAGraphemeLargerThanThePayload() throws {
        let monster = "a" + String(repeating: "\u{301}", count: 50_000)
        #expect(try read(APNsPayload(title: "T", body: monster, data: [:])).aps.alert.body == "…")
    }

    @Test func refusesWhatCannotBeCut() {
        #expect(throws: NotificationRefusal.dataHoldsAps) {
            try APNsPayload(title: "", body: "", data: ["aps": "{}"])
        }
        #expect {
            try APNsPayload(title: "t", body: "b", data: ["k": String(repeating: "v", count: 4096)])
        } throws: { error in
            "\(error)".hasPrefix("payload too large")
        }
    }

    @Test(arguments: [
        ("a", true), (String(repeating: "c", count: 64), true), (String(repeating: "c", count: 65), false),
        (String(repeating: "é", count: 32), true), (String(repeating: "é", count: 33), false), ("a\nb", false),
        (" a", false), ("a ", false), ("a b", true), ("\0", false),
    ])
    func checksCollapseIDs(_ id: String, _ isFine: Bool) {
        let notification = Notification(did: "did:plc:a", title: "t", body: "b", collapseID: id)
        let origin = SendOrigin(hook: "h", uri: "at://x", rev: "r", place: 0)
        let entry = try? OutboxEntry(
            notification, origin: origin, now: 1, lifetime: 6, namesRecipient: true, badges: BadgeClosures())
        #expect((entry != nil) == isFine)
        #expect(entry == nil || entry?.message.collapseID == id)
    }

    @Test func takesAnEmptyCollapseIDForNone() throws {
        let notification = Notification(did: "did:plc:a", title: "t", body: "b", collapseID: "")
        let origin = SendOrigin(hook: "h", uri: "at://x", rev: "r", place: 3)
        let entry = try OutboxEntry(
            notification, origin: origin, now: 1, lifetime: 6, namesRecipient: true, badges: BadgeClosures())
        #expect(entry.message.collapseID == nil)
        #expect(entry.place == 3)
        #expect(entry.message.priority == 10)
        #expect(entry.message.pushType == "alert")
        #expect(entry.expiresAt == 7)
    }
}

extension APNsPayload {
    init(title: String, body: String, data: [String: String], namesRecipient: Bool = true) throws {
        try self.init(
            Notification(did: "did:plc:a", title: title, body: body, data: data), namesRecipient: namesRecipient)
    }
}
