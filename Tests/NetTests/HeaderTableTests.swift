import Testing

@testable import Net

/// What the table writes, as nghttp2's decoder reads it.
struct HeaderTableTests {
    private static let push = PreparedHeaders([
        HeaderField(":method", "POST"), HeaderField(":scheme", "https"), HeaderField(":authority", "a"),
        HeaderField("apns-topic", "t"), HeaderField("authorization", "secret", neverIndexed: true),
    ])

    @Test func writesEachFieldWholeOnce() {
        var table = HeaderTable()
        let first = table.block(of: Self.push)
        #expect(
            first == [0x83, 0x87, 0x41, 1, 0x61, 0x40, 10] + Array("apns-topic".utf8) + [1, 0x74])
        #expect(table.block(of: Self.push) == [0x83, 0x87, 0xBF, 0xBE])
        #expect(table.block(of: Self.push) == [0x83, 0x87, 0xBF, 0xBE])
        let other = PreparedHeaders([
            HeaderField(":method", "GET"), HeaderField("apns-topic", "t"), HeaderField("x", "y"),
        ])
        #expect(table.block(of: other) == [0x82, 0xBE, 0x40, 1, 0x78, 1, 0x79])
        // Its numbers have moved.
        #expect(table.block(of: Self.push) == [0x83, 0x87, 0xC0, 0xBF])
        #expect(table.block(of: other) == [0x82, 0xBF, 0xBE])
    }

    @Test func putsNothingIntoATableWithoutRoom() {
        var table = HeaderTable()
        table.resize(to: 33)
        let whole: [UInt8] = [0x83, 0x87, 0x01, 1, 0x61, 0x00, 10] + Array("apns-topic".utf8) + [1, 0x74]
        #expect(table.block(of: Self.push) == whole)
        #expect(table.block(of: Self.push) == whole)
        table.resize(to: 4096)
        #expect(table.block(of: Self.push) != whole)
        #expect(table.block(of: Self.push).count == 4)
        table.resize(to: 0)
        #expect(table.block(of: Self.push) == whole)
    }

    /// Sets of fields that fit, do not fit, push each other out; tables that shrink and grow.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func isReadByAnother(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let fields = (0..<12).map { number in
            HeaderField(
                number < 6 ? "name-\(number)" : "name",
                String(repeating: "v", count: .random(in: 0...(number % 3 == 0 ? 600 : 40), using: &random)))
        }
        let sets = (0..<6).map { _ in
            PreparedHeaders([HeaderField(":method", "POST")] + fields.shuffled(using: &random).prefix(5))
        }
        let decoder = try HeaderDecoder()
        var table = HeaderTable()
        for _ in 0..<200 {
            var block: [UInt8] = []
            if Int.random(in: 0..<10, using: &random) == 0 {
                for _ in 0...1 {
                    let size = Int.random(in: 0...1500, using: &random)
                    HPACK.append(size, prefix: 5, flags: 0x20, to: &block)
                    table.resize(to: size)
                }
            }
            let set = try #require(sets.randomElement(using: &random))
            block += table.block(of: set)
            #expect(try decoder.fields(of: block) == set.fields)
        }
    }

    @Test(arguments: [0, 1, 30, 31, 32, 127, 128, 158, 159, 1337, 16_384, 1 << 28])
    func readsTheNumbersThatItWrites(_ number: Int) {
        for prefix in 4...7 {
            var bytes: [UInt8] = []
            HPACK.append(number, prefix: prefix, to: &bytes)
            func read(_ count: Int) -> Int? {
                bytes.prefix(count).withUnsafeBytes { bytes in
                    var rest = bytes[...]
                    return HPACK.number(prefix: prefix, from: &rest)
                }
            }
            #expect(read(bytes.count) == number)
            for count in 0..<bytes.count { #expect(read(count) == nil) }
        }
    }
}
