import FoundationEssentials
import Net

/// A refusal of APNs, as far as it can be read: the body may be empty, HTML, or anything else.
struct APNsAnswer: Sendable, Hashable {
    var status: Int
    /// Apple's word, as in `BadDeviceToken`; nil when the body holds none.
    var reason: String?
    /// With 410: milliseconds since 1970 at which the token was known to be dead.
    var timestamp: Int64?
    /// Milliseconds that the gateway asks for before the next attempt.
    var retryAfter: Int64?

    init(status: Int, reason: String? = nil, timestamp: Int64? = nil, retryAfter: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    /// - Parameter now: milliseconds since 1970, for a `retry-after` that names a date.
    init(status: Int, headers: [HeaderField] = [], body: [UInt8], now: Int64) {
        self.status = status
        if !body.isEmpty, let body = try? JSONDecoder().decode(Body.self, from: Data(body)) {
            reason = body.reason
            timestamp = body.timestamp
        }
        if status == 429 || status >= 500 {
            retryAfter = headers.first { $0.name.elementsEqual("retry-after".utf8) }
                .flatMap { RetryAfter(String(decoding: $0.value, as: UTF8.self), now: now)?.milliseconds }
        }
    }

    /// What the tables and logs show: Apple's word, or the status. Of low cardinality.
    var label: String { reason ?? "HTTP \(status)" }

    private struct Body: Decodable {
        var reason: String?
        var timestamp: Int64?

        enum Key: String, CodingKey { case reason, timestamp }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            // A word alone: whatever else a body says could hold a token, and would be stored and logged.
            if let word = try? container.decode(String.self, forKey: .reason), (1...40).contains(word.utf8.count),
                word.utf8.allSatisfy({ ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") })
            {
                reason = word
            }
            if let number = try? container.decode(Int64.self, forKey: .timestamp) {
                timestamp = number
            } else if let number = try? container.decode(Double.self, forKey: .timestamp) {
                timestamp = Int64(exactly: number.rounded(.down))
            }
        }
    }
}

/// The value of a `retry-after` field: seconds, or a date. Source: RFC 9110 §10.2.3.
struct RetryAfter: Hashable {
    /// A day at most, whatever the gateway asks for.
    static let maximum: Int64 = 86_400_000

    var milliseconds: Int64

    init?(_ text: String, now: Int64) {
        if !text.isEmpty, text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            milliseconds = text.utf8.count > 9 ? Self.maximum : min((Int64(text) ?? 0) * 1000, Self.maximum)
        } else if let date = Self.date(text) {
            milliseconds = min(max(date - now, 0), Self.maximum)
        } else {
            return nil
        }
    }

    /// Milliseconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, the only form of date that may be written today.
    private static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT" else { return nil }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = parts[4].split(separator: ":").compactMap { Int($0) }
        guard let day = Int(parts[1]), (1...31).contains(day), let month = months.firstIndex(of: String(parts[2])),
            let year = Int(parts[3]), (1970...9999).contains(year), clock.count == 3,
            (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        let days = daysSince1970(year: year, month: month + 1, day: day)
        return Int64(((days * 24 + clock[0]) * 60 + clock[1]) * 60 + clock[2]) * 1000
    }

    /// In the Gregorian calendar, counting years from March so that the leap day comes last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let monthsFromMarch = (month + 9) % 12
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + (monthsFromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }
}
