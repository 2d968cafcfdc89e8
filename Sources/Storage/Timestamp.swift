#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// ISO 8601 in UTC with milliseconds, as Hark's tables hold times: `2026-07-04T12:00:00.000Z`.
enum Timestamp {
    private static let length = 24
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// From the first day of the year 0 to the last of 9999: what four digits can say.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Milliseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// - Parameter milliseconds: since 1970; clamped to the years 0 to 9999.
    static func text(_ milliseconds: Int64) -> String {
        let clamped = min(max(milliseconds, range.lowerBound), range.upperBound)
        let day = clamped >= 0 ? clamped / millisecondsPerDay : (clamped + 1) / millisecondsPerDay - 1
        let rest = clamped - day * millisecondsPerDay
        let date = civil(day)
        return String(unsafeUninitializedCapacity: length) { bytes in
            func put(_ value: Int64, at start: Int, digits: Int, then separator: Character) {
                var value = value
                for index in stride(from: start + digits - 1, through: start, by: -1) {
                    bytes[index] = UInt8(ascii: "0") + UInt8(value % 10)
                    value /= 10
                }
                bytes[start + digits] = separator.asciiValue ?? 0
            }
            put(date.year, at: 0, digits: 4, then: "-")
            put(date.month, at: 5, digits: 2, then: "-")
            put(date.day, at: 8, digits: 2, then: "T")
            put(rest / 3_600_000, at: 11, digits: 2, then: ":")
            put(rest / 60_000 % 60, at: 14, digits: 2, then: ":")
            put(rest / 1000 % 60, at: 17, digits: 2, then: ".")
            put(rest % 1000, at: 20, digits: 3, then: "Z")
            return length
        }
    }

    /// Milliseconds since 1970 of a text that `text` made; nil for anything else.
    static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count == length else { return nil }
        func number(_ start: Int, _ digits: Int) -> Int64? {
            var value: Int64 = 0
            for index in start..<start + digits {
                let digit = text[index] &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                value = value * 10 + Int64(digit)
            }
            return value
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
            let minute = number(14, 2), let second = number(17, 2), let fraction = number(20, 3),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        return days(year, month, day) * millisecondsPerDay + hour * 3_600_000 + minute * 60_000 + second * 1000
            + fraction
    }

    // The Gregorian calendar, counted in eras of 400 years (146,097 days) that begin on March 1.

    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
