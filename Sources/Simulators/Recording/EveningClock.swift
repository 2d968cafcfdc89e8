/// The evening's time, which only moves when something happens.
struct EveningClock: Sendable {
    /// 18:00 UTC on 4 July 2026.
    static let start: Int64 = 1_783_188_000_000_000
    /// Four hours, in microseconds.
    static let evening = 4 * 3600 * 1_000_000
    /// Record keys of one commit lie this far before its time, so ticks must be longer.
    static let shortestTick = 100

    /// Microseconds since 1970.
    private(set) var now = Self.start
    private let longestTick: Int

    /// A clock whose ticks spread `events` over an evening, more or less.
    init(events: Int) { longestTick = max(2 * Self.shortestTick, 2 * Self.evening / max(events, 1)) }

    mutating func tick(_ random: inout SeededRandom) -> Int64 {
        now += Int64(Self.shortestTick + random.below(longestTick - Self.shortestTick))
        return now
    }
}

/// A moment as records write it, with milliseconds: `2026-07-04T18:00:00.123Z`.
func datetimeText(_ microseconds: Int64) -> String {
    let (days, inDay) = microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
    let (year, month, day) = civilDate(daysSince1970: Int(days))
    let milliseconds = Int(inDay) / 1000
    return String(unsafeUninitializedCapacity: 24) { text in
        func write(_ number: Int, at start: Int, digits: Int, then separator: Unicode.Scalar) {
            var rest = number
            for index in stride(from: start + digits - 1, through: start, by: -1) {
                text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            text[start + digits] = UInt8(ascii: separator)
        }
        write(year, at: 0, digits: 4, then: "-")
        write(month, at: 5, digits: 2, then: "-")
        write(day, at: 8, digits: 2, then: "T")
        write(milliseconds / 3_600_000, at: 11, digits: 2, then: ":")
        write(milliseconds / 60_000 % 60, at: 14, digits: 2, then: ":")
        write(milliseconds / 1000 % 60, at: 17, digits: 2, then: ".")
        write(milliseconds % 1000, at: 20, digits: 3, then: "Z")
        return 24
    }
}

/// Howard Hinnant's `civil_from_days`, for days since 1970: years begin in March, so that the leap day comes last.
private func civilDate(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = daysSince1970 + 719_468
    let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
}
