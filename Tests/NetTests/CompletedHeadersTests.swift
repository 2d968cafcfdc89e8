import Testing

@testable import Net

struct CompletedHeadersTests {
    private static let own = {
        var own = FieldLiterals()
        own.begin(path: "/", "p")
        own.append("a", "1")
        return own
    }()
    private static let path: [UInt8] = [0x14, 2, 0x2f, 0x70]
    private static let field: [UInt8] = [0x10, 1, 0x61, 1, 0x31]

    private func complete(_ frame: [UInt8], limit: Int = 16_384, indexed: [UInt8] = [0x83], literals: [UInt8] = [])
        -> [UInt8]?
    {
        frame.withUnsafeBytes { bytes in
            guard let headers = CompletedHeaders(bytes) else { return nil }
            var output = ByteBuffer(capacity: 16)
            headers.write(indexed: indexed, literals: literals, own: Self.own, limit: limit, to: &output)
            return Array(output.bytes)
        }
    }

    /// Changes of the table's size stay in front of everything, however long they are.
    @Test(
        arguments: [
            ([], []), ([0x20], [0]), ([0x3f, 0xe1, 0x1f], [4096]), ([0x20, 0x3f, 0xe1, 0x1f], [0, 4096]),
            ([0x3f, 0x00], [31]), ([0x3e, 0x21], [30, 1]),
        ] as [([UInt8], [Int])])
    func putsThePathInFrontAndTheRestBehind(_ updates: [UInt8], _ sizes: [Int]) {
        func frame(_ block: [UInt8]) -> [UInt8] { [0, 0, UInt8(block.count), 1, 5, 1, 2, 3, 4] + block }
        let given = frame(updates)
        let wanted = frame(updates + Self.path + [0x83, 0x87, 7, 8, 9] + Self.field)
        #expect(complete(given, indexed: [0x83, 0x87], literals: [7, 8, 9]) == wanted)
        #expect(given.withUnsafeBytes { CompletedHeaders($0)?.stream } == 0x0102_0304)
        // Fields behind them, or parts of some, do not matter.
        for rest in [[], [0x82], [0x1F, 0x23, 1, 0x3F], [0x40, 1]] as [[UInt8]] {
            #expect(frame(updates + rest).withUnsafeBytes { CompletedHeaders.tableSizes(in: $0) } == sizes)
        }
    }

    @Test func continuesWhereAFrameIsTooShort() {
        let heads: [[UInt8]] = [
            [0, 0, 4, 1, 1, 0, 0, 0, 9], [0, 0, 4, 9, 0, 0, 0, 0, 9], [0, 0, 2, 9, 4, 0, 0, 0, 9],
        ]
        let parts: [[UInt8]] = [Self.path, [0x83] + Self.field.prefix(3), Array(Self.field.suffix(2))]
        let wanted = zip(heads, parts).flatMap { $0 + $1 }
        #expect(complete([0, 0, 0, 1, 5, 0, 0, 0, 9], limit: 4) == wanted)
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
