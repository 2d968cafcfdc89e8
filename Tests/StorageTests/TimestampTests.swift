import Foundation
import Testing

@testable import Storage

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_783_123_200_123, "2026-07-04T00:00:00.123Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-11_676_096_000_000, "1600-01-01T00:00:00.000Z"),
    ]) func knownTimes(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp.text(milliseconds) == text)
        #expect(Array(text.utf8).withUnsafeBufferPointer { Timestamp.milliseconds($0) } == milliseconds)
    }

    @Test func agreesWithFoundation() {
        var time: Int64 = -3_000_000_000_000
        while time < 8_000_000_000_000 {
            let date = Date(timeIntervalSince1970: Double(time / 1000))
            #expect(Timestamp.text(time / 1000 * 1000).prefix(19) == date.ISO8601Format().dropLast())
            #expect(Array(Timestamp.text(time).utf8).withUnsafeBufferPointer { Timestamp.milliseconds($0) } == time)
            time += 98_765_432_101
        }
    }

    @Test(arguments: [Int64.min, .max]) func farTimesAreClamped(_ milliseconds: Int64) {
        #expect(Timestamp.text(milliseconds).utf8.count == 24)
    }

    @Test(arguments: [
        "", "2026-07-04", "2026-13-04T00:00:00.000Z", "x026-07-04T00:00:00.000Z", "2026-07-04T00:00:00.00Z",
    ])
    func othersAreRefused(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { Timestamp.milliseconds($0) } == nil)
    }
}
