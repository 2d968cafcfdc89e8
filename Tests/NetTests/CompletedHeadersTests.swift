import Testing

@testable import Net

struct CompletedHeadersTests {
    private static let own = {
        var own = FieldLiterals(path: "/", "p")
        own.append("a", "1")
        return own
    }()
    private static let path: [UInt8] = [0x14, 2, 0x2f, 0x70]
    private static let field: [UInt8] = [0x10, 1, 0x61, 1, 0x31]

    private func complete(_ frame: [UInt8], limit: Int = 16_384, shared: [UInt8] = []) -> [UInt8]? {
        frame.withUnsafeBytes { bytes in
            guard let headers = CompletedHeaders(bytes) else { return nil }
            var output = ByteBuffer(capacity: 16)
            headers.write(shared: shared, own: Self.own, limit: limit, to: &output)
            return Array(output.bytes)
        }
    }

    /// Changes of the table's size stay in front of everything, however long they are.
    @Test(
        arguments: [
            [], [0x20], [0x3f, 0xe1, 0x1f], [0x20, 0x3f, 0xe1, 0x1f], [0x3f, 0x00], [0x3e, 0x21],
        ] as [[UInt8]])
    func putsThePathInFrontAndTheRestBehind(_ updates: [UInt8]) {
        func frame(_ block: [UInt8]) -> [UInt8] { [0, 0, UInt8(block.count), 1, 5, 1, 2, 3, 4] + block }
        let given = frame(updates + [0x83, 0x87])
        let fields: [UInt8] = Self.path + [0x83, 0x87, 7, 8, 9] + Self.field
        let wanted = frame(updates + fields)
        #expect(complete(given, shared: [7, 8, 9]) == wanted)
        #expect(given.withUnsafeBytes { CompletedHeaders($0)?.stream } == 0x0102_0304)
    }

    @Test func continuesWhereAFrameIsTooShort() {
        let heads: [[UInt8]] = [
            [0, 0, 4, 1, 1, 0, 0, 0, 9], [0, 0, 4, 9, 0, 0, 0, 0, 9], [0, 0, 2, 9, 4, 0, 0, 0, 9],
        ]
        let parts: [[UInt8]] = [Self.path, [0x83] + Self.field.prefix(3), Array(Self.field.suffix(2))]
        let wanted = zip(heads, parts).flatMap { $0 + $1 }
        #expect(complete([0, 0, 1, 1, 5, 0, 0, 0, 9, 0x83], limit: 4) == wanted)
    }

    @Test(
        arguments: [
            [], [0, 0, 0, 1], [0, 0, 1, 0, 5, 0, 0, 0, 1, 9], [0, 0, 1, 1, 1, 0, 0, 0, 1, 0x83],
            [0, 0, 0, 9, 4, 0, 0, 0, 1],
        ] as [[UInt8]])
    func leavesOtherFramesAlone(_ frame: [UInt8]) {
        #expect(complete(frame) == nil)
    }
}
