/// A moment as records write it: `1985-04-12T23:20:50.123Z`, the common part of RFC 3339 and ISO 8601.
///
/// A timezone is required, `-00:00` refused, and the date must exist, in no year before 0 (UTC).
/// Source: atproto.com/specs/lexicon#datetime.
public struct Datetime: SyntaxChecked {
    public static let kind = "datetime"
    /// As many digits of a second as the protocol's own implementations accept.
    public static let maximumFractionDigits = 20

    /// As written, timezone and precision included.
    public let description: String
    /// Microseconds since 1970 (UTC); finer digits are cut off.
    public let microseconds: Int64

    public init(_ text: String) throws(SyntaxError) {
        switch Self.parse(text.utf8.span) {
        case .success(let microseconds):
            description = text
            self.microseconds = microseconds
        case .failure(let error):
            throw error
        }
    }

    public static func problem(in text: Span<UInt8>) -> String? {
        switch parse(text) {
        case .success: nil
        case .failure(let error): error.reason
        }
    }

    private static func parse(_ text: Span<UInt8>) -> Result<Int64, SyntaxError> {
        func failure(_ reason: String) -> Result<Int64, SyntaxError> {
            .failure(SyntaxError(kind: kind, reason: reason))
        }
        guard hasLayout(text) else { return failure("not of the form YYYY-MM-DDThh:mm:ss") }
        let (year, month, day) = (number(text, 0, 4), number(text, 5, 2), number(text, 8, 2))
        let (hour, minute, second) = (number(text, 11, 2), number(text, 14, 2), number(text, 17, 2))
        guard 1...12 ~= month, 1...length(ofMonth: month, year: year) ~= day else { return failure("no such day") }
        guard hour < 24, minute < 60, second < 60 else { return failure("no such time of day") }

        var (index, fraction) = (19, 0)
        if index < text.count, text[index] == .ascii(".") {
            index += 1
            let start = index
            while index < text.count, text[index].isDigit {
                if index - start < 6 { fraction = fraction * 10 + Int(text[index] - .ascii("0")) }
                index += 1
            }
            guard 1...maximumFractionDigits ~= index - start else {
                return failure("1 to 20 digits must follow the point")
            }
            for _ in min(index - start, 6)..<6 { fraction *= 10 }
        }
        guard let offset = offsetMinutes(text, at: index) else { return failure("ends in no timezone (Z or ±hh:mm)") }
        let days = daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + (minute - offset) * 60 + second
        guard seconds >= firstSecondOfYear0 else { return failure("before the year 0") }
        return .success(Int64(seconds * 1_000_000 + fraction))
    }

    private static let firstSecondOfYear0 = -62_167_219_200

    /// True when digits and separators stand where they should in the first 19 bytes.
    private static func hasLayout(_ text: Span<UInt8>) -> Bool {
        guard text.count > 19 else { return false }
        let layout: StaticString = "0000-00-00T00:00:00"
        for index in 0..<19 {
            let expected = layout.utf8Start[index]
            guard expected == .ascii("0") ? text[index].isDigit : text[index] == expected else { return false }
        }
        return true
    }

    private static func number(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> Int {
        var value = 0
        for index in start..<start + count { value = value * 10 + Int(text[index] - .ascii("0")) }
        return value
    }

    /// The timezone that fills the text from `start` to its end, in minutes east of UTC.
    private static func offsetMinutes(_ text: Span<UInt8>, at start: Int) -> Int? {
        if start == text.count - 1, text[start] == .ascii("Z") { return 0 }
        guard text.count - start == 6, text[start] == .ascii("+") || text[start] == .ascii("-"),
            text[start + 1].isDigit, text[start + 2].isDigit, text[start + 3] == .ascii(":"),
            text[start + 4].isDigit, text[start + 5].isDigit
        else { return nil }
        let (hours, minutes) = (number(text, start + 1, 2), number(text, start + 4, 2))
        guard hours < 24, minutes < 60 else { return nil }
        let offset = hours * 60 + minutes
        guard text[start] == .ascii("-") else { return offset }
        return offset == 0 ? nil : -offset
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts days in years that begin in March, so that the leap day comes last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = year + 400 - (month <= 2 ? 1 : 0)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        // 719_468 days lie between 0000-03-01 and 1970-01-01, 146_097 in the 400 years added above.
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468 - 146_097
    }
}
