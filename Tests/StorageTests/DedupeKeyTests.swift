import Foundation
import Testing

@testable import Storage

struct DedupeKeyTests {
    /// Foundation's text of the same bytes, version and variant set.
    @Test func isWrittenAsAUUID() {
        for round in 0..<1000 {
            var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            if round < 16 { bytes = Array(repeating: UInt8(round * 17), count: 16) }
            let key = bytes.withUnsafeBytes { DedupeKey($0) }
            bytes[6] = bytes[6] & 0x0F | 0x80
            bytes[8] = bytes[8] & 0x3F | 0x80
            let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            #expect(key.uuid == uuid.uuidString.lowercased())
        }
    }
}
