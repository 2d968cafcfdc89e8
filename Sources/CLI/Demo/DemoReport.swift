import Runtime
import Simulators

/// What a demo did, held against what the evening's own model says must come of it.
struct DemoReport: Sendable {
    let recording: String
    let evening: GrainEvening
    let registrations: DemoRegistrations
    let port: UInt16
    let summary: ReplaySummary
    let received: [ReceivedPush]
    /// Requests that the second replay caused.
    let receivedAgain: Int
    let hookRunsAgain: Int
    /// Rows by collection.
    let records: [String: Int]
    /// The last characters of every token that is still registered.
    let devicesLeft: [String]

    /// Whatever differs from the model, a line each; empty when all is well.
    func differences() -> [String] {
        let expected = evening.expectations
        var lines: [String] = []
        func compare(_ what: String, _ found: Int, _ wanted: Int) {
            if found != wanted { lines.append("\(what): \(found.grouped) instead of \(wanted.grouped)") }
        }
        compare("devices registered", registrations.registered, evening.devices.count + registrations.unregistered)
        compare("records created", summary.created, expected.created)
        compare("records updated", summary.updated, expected.updated)
        compare("records deleted", summary.deleted, expected.deleted)
        for (collection, wanted) in expected.records.sorted(by: { $0.key < $1.key }) {
            compare("records of \(collection)", records[collection] ?? 0, wanted.count)
        }
        compare("hooks that failed", summary.hookErrors, 0)
        let (missing, surplus) = Self.difference(
            of: expected.deliveries(to: evening.devices).map(Delivery.init), and: accepted.map(Delivery.init))
        compare("pushes that are missing", missing, 0)
        compare("pushes that nobody should get", surplus, 0)
        let left = evening.devices.count - expected.removedDevices(of: evening.devices).count
        compare("devices left", devicesLeft.count, left)
        compare("requests of the second replay", receivedAgain, 0)
        compare("hooks run by the second replay", hookRunsAgain, 0)
        return lines
    }

    var accepted: [ReceivedPush] { received.filter(\.isAccepted) }

    /// The dead devices that are gone, with what Apple's stand-in said of each.
    var removedTokens: [(suffix: String, answer: String)] {
        let left = Set(devicesLeft)
        return evening.devices.compactMap { device in
            let suffix = String(device.token.suffix(8))
            guard let answer = device.deadAnswer, !left.contains(suffix) else { return nil }
            switch answer {
            case .unregistered: return (suffix, "410 Unregistered")
            case .badDeviceToken: return (suffix, "400 BadDeviceToken")
            }
        }
    }

    /// Pushes that arrived, by the recipient's handle, most first.
    var pushesByRecipient: [(handle: String, pushes: Int, devices: Int)] {
        let owners = Dictionary(evening.devices.map { ($0.token, $0.did) }) { first, _ in first }
        let handles = Dictionary(evening.people.map { ($0.did, $0.handle) }) { first, _ in first }
        let byOwner = Dictionary(grouping: accepted) { owners[$0.token] ?? "" }
        return byOwner.map { owner, pushes in
            (handles[owner] ?? owner, pushes.count, Set(pushes.map(\.token)).count)
        }.sorted { ($1.pushes, $0.handle) < ($0.pushes, $1.handle) }
    }

    // MARK: Comparing

    /// A push on one device, byte by byte: two of the evening's names differ in nothing but their bytes.
    private struct Delivery: Hashable {
        let parts: [[UInt8]]

        init(_ expected: ExpectedDelivery) {
            self.init(expected.token, expected.push.title, expected.push.body, expected.push.data)
        }

        init(_ push: ReceivedPush) { self.init(push.token, push.title ?? "", push.body ?? "", push.data) }

        private init(_ token: String, _ title: String, _ body: String, _ data: [String: String]) {
            let pairs = data.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
            parts = ([token, title, body] + pairs).map { Array($0.utf8) }
        }
    }

    private static func difference(of wanted: [Delivery], and found: [Delivery]) -> (missing: Int, surplus: Int) {
        var balance: [Delivery: Int] = [:]
        for delivery in wanted { balance[delivery, default: 0] += 1 }
        for delivery in found { balance[delivery, default: 0] -= 1 }
        return (balance.values.reduce(0) { $0 + max($1, 0) }, balance.values.reduce(0) { $0 + max(-$1, 0) })
    }
}

extension DemoReport {
    private static let shownRecipients = 8
    private static let shownTokens = 5

    /// For people.
    var lines: [String] {
        let devices = evening.devices.count
        var lines = [
            "An invented evening of grain, a photo-sharing app: \(evening.people.count.of("person", "people")), "
                + devices.of("device") + ".",
            "",
            "devices     \(registrations.registered.grouped) registered over XRPC with signed service tokens, "
                + "\(registrations.unregistered.grouped) of them unregistered again",
            "recording   \(recording)",
            "read        \(summary.events.of("event")), \(summary.commits.of("commit")), in \(summary.indexing.shortSeconds)",
            "records     \(summary.created.grouped) created, \(summary.updated.grouped) updated, "
                + "\(summary.deleted.grouped) deleted; in the database now:",
        ]
        lines += records.sorted { $0.key < $1.key }.map { "            \(Self.column($0.value)) \($0.key)" }
        lines += labelled("skipped     ", summary.skippedReasons)
        lines.append("hooks       \(summary.hookRuns.of("run")), \(summary.hookErrors.of("error"))")
        lines.append(
            "pushes      \(accepted.count.grouped) reached a device, over TLS and HTTP/2 to 127.0.0.1:\(port):")
        lines += recipientLines
        lines.append("tokens      \(removedTokens.count.grouped) dead ones removed:")
        lines += removedTokens.prefix(Self.shownTokens).map { "            …\($0.suffix)  \($0.answer)" }
        lines += Self.rest(removedTokens.count - Self.shownTokens, "more")
        lines.append(
            "once more   the same recording again: \(receivedAgain.of("push", "pushes")), \(hookRunsAgain.of("hook run"))"
        )
        return lines
    }

    private var recipientLines: [String] {
        let recipients = pushesByRecipient
        let shown = recipients.prefix(Self.shownRecipients).map {
            "            \(Self.column($0.pushes)) \($0.handle.printable), on \($0.devices.of("device"))"
        }
        let others = recipients.dropFirst(Self.shownRecipients)
        guard !others.isEmpty else { return shown }
        let pushes = others.reduce(0) { $0 + $1.pushes }
        return shown + ["            \(Self.column(pushes)) to \(others.count.of("other person", "other people"))"]
    }

    private static func rest(_ count: Int, _ noun: String) -> [String] {
        count > 0 ? ["            and \(count.grouped) \(noun)"] : []
    }

    private static func column(_ number: Int) -> String {
        let text = number.grouped
        return String(repeating: " ", count: max(5 - text.count, 0)) + text
    }

    /// `differences` is part of it: empty when all is well.
    var json: JSONText {
        let recipients = pushesByRecipient.map { ($0.handle, JSONText.integer($0.pushes)) }
        return .object([
            ("recording", .string(recording)),
            ("registered", .integer(registrations.registered)),
            ("unregistered", .integer(registrations.unregistered)),
            ("replay", summary.json),
            ("collections", .object(records.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
            ("pushes", .object(recipients)),
            ("tokensRemoved", .array(removedTokens.map { .string($0.suffix) })),
            ("sentAgain", .integer(receivedAgain)),
            ("differences", .array(differences().map { .string($0) })),
        ])
    }
}
