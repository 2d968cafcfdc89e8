import Crypto
import Testing

@testable import ATProto

@Suite struct CARTests {
    static func block(_ number: Int64) -> (cid: CID, bytes: [UInt8]) {
        let bytes = DAGCBOR.encode(.array([.integer(number)]))
        return (CID.dagCBOR(of: bytes), bytes)
    }

    @Test(arguments: [0, 1, 10, 32, 33, 500]) func findsBlocksByCID(_ count: Int) throws {
        let blocks = (0..<Int64(count)).map(Self.block)
        let root = Self.block(0).cid
        let archive = CAR.encode(roots: [root], blocks: blocks)
        let car = try CAR([1, 2, 3] + archive + [4], in: 3..<3 + archive.count)
        #expect(car.roots == [root])
        #expect(car.cids == blocks.map(\.cid))
        for (cid, bytes) in blocks {
            #expect(car.block(cid).map(Array.init) == bytes)
            #expect(cid.matches(Array(try #require(car.block(cid)))))
        }
        #expect(car.block(Self.block(-1).cid) == nil)
    }

    @Test func ofTwinsTheFirstCounts() throws {
        let cid = Self.block(0).cid
        for count in [2, 100] {
            let car = try CAR(CAR.encode(roots: [], blocks: (0..<count).map { (cid, [UInt8($0)]) }))
            #expect(car.block(cid).map(Array.init) == [0])
        }
    }

    static let refused: [(String, [UInt8])] = {
        let block = Self.block(0)
        let whole = CAR.encode(roots: [block.cid], blocks: [block])
        func archive(_ header: Value, _ rest: [UInt8] = []) -> [UInt8] {
            let bytes = DAGCBOR.encode(header)
            return [UInt8(bytes.count)] + bytes + rest
        }
        func header(_ entries: [(String, Value)]) -> Value {
            .map(ValueMap(entries.map { .init(key: $0.0, value: $0.1) }) ?? ValueMap())
        }
        let empty = archive(header([("roots", .array([])), ("version", .integer(1))]))
        return [
            ("nothing", []), ("an empty header", [0]), ("a length without bytes", [5]),
            ("a header that is no map", archive(.integer(1))),
            ("version 2", archive(header([("roots", .array([])), ("version", .integer(2))]))),
            ("no roots", archive(header([("version", .integer(1))]))),
            ("a root that is no link", archive(header([("roots", .array([.integer(1)])), ("version", .integer(1))]))),
            ("more in the header", archive(header([("roots", .array([])), ("version", .integer(1)), ("x", .null)]))),
            ("an empty section", empty + [0]), ("a section beyond the end", empty + [40] + block.cid.bytes),
            ("a length that is not shortest", empty + [0xa6, 0x80, 0x00] + block.cid.bytes + [0x80, 0x80]),
            ("a length beyond 63 bits", empty + Array(repeating: 0xff, count: 9) + [1]),
            ("a length without end", empty + [0xff]),
            ("a huge length", empty + Array(repeating: 0xff, count: 8) + [0x7f]),
            ("no CID", empty + [2, 0, 0]), ("a CIDv0", empty + [34, 0x12, 32] + Array(repeating: 0, count: 32)),
            ("a CID beyond its section", empty + [10] + block.cid.bytes), ("cut off", Array(whole.dropLast())),
            ("bytes behind", whole + [1]),
        ]
    }()

    @Test(arguments: refused) func refuses(_ what: String, _ bytes: [UInt8]) {
        #expect(throws: DecodingFailure.self, "accepts \(what)") { try CAR(bytes) }
    }

    @Test func refusesRangesOutside() {
        #expect(throws: DecodingFailure.self) { try CAR([1, 2], in: 0..<3) }
        #expect(throws: DecodingFailure.self) { try CAR([1, 2], in: -1..<1) }
    }

    @Test(arguments: 0..<2) func survivesMutation(_ seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        let valid = CAR.encode(roots: [Self.block(0).cid], blocks: (0..<4).map(Self.block))
        for _ in 0..<3_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...3, using: &random) { random.mutate(&bytes) }
            guard let car = try? CAR(bytes) else { continue }
            // What is left reads back to the same archive.
            let blocks = car.cids.map { cid in (cid: cid, bytes: car.block(cid).map(Array.init) ?? []) }
            if Set(car.cids).count == car.count { #expect(CAR.encode(roots: car.roots, blocks: blocks) == bytes) }
        }
    }
}
