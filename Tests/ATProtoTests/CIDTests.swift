import Crypto
import Testing

@testable import ATProto

@Suite struct CIDTests {
    static let record = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"
    static let blob = "bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity"

    @Test func readsTheProtocolsOwn() throws {
        let cid = try CID(Self.record)
        #expect(cid.description == Self.record)
        #expect(cid.bytes.count == 36)
        #expect(cid.codec == CID.Codec.dagCBOR && cid.isOfRecord && cid.isLinkable)
        let blob = try CID(Self.blob)
        #expect(blob.codec == CID.Codec.raw && !blob.isOfRecord && blob.isLinkable)
        #expect(try CID(bytes: cid.bytes) == cid)
    }

    @Test func otherBasesGiveTheSameCID() throws {
        let cid = try CID(Self.record)
        #expect(try CID(Multibase.encodeBase58(cid.bytes)) == cid)
        #expect(try CID("f" + Base16.encode(cid.bytes)) == cid)
        // Codec 0x70: well-formed, yet nothing a record may link to.
        #expect(try !CID("zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7").isLinkable)
    }

    @Test func hashesBlocks() throws {
        // The empty map.
        #expect(CID.dagCBOR(of: [0xa0]).description == "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua")
        let cid = CID.dagCBOR(of: [0xa0])
        #expect(cid.matches([0xa0]))
        #expect(!cid.matches([0xa1]) && !cid.matches([UInt8]()))
        #expect(CID.raw(of: [0xa0]).matches([0xa0]) && CID.raw(of: [0xa0]) != cid)
        // BLAKE3 cannot be told.
        #expect(try !CID(bytes: [1, 0x55, 0x1e, 32] + Array(repeating: 0, count: 32)).matches([UInt8]()))
    }

    @Test(arguments: [
        "", ".", "12345", "noop", "example.com", "cid:" + record, " " + record, record + " ",
        "bafybe igdyrzt5sfp7udm7hu7",
        "QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR", "b" + String(repeating: "a", count: 256), record + "é",
    ])
    func refusesText(_ text: String) {
        #expect(!CID.isValid(text))
        #expect(throws: SyntaxError.self) { try CID(text) }
    }

    @Test(arguments: [
        // Uppercase digits, a digit more, a digit less, an unknown base.
        record.uppercased(), record + "a", String(record.dropLast()), "x" + record.dropFirst(),
        "B" + record.dropFirst(),
    ])
    func refusesTextThatDecodesToNoCID(_ text: String) {
        #expect(throws: SyntaxError.self) { try CID(text) }
    }

    @Test(
        arguments: [
            [], [1], [1, 0x71], [1, 0x71, 0x12], [1, 0x71, 0x12, 32], [1, 0x71, 0x12, 2, 0], [1, 0x71, 0x12, 1, 0, 0],
            [0, 0x71, 0x12, 1, 0], [2, 0x71, 0x12, 1, 0], [0x81, 0x00, 0x71, 0x12, 1, 0], [1, 0xf1, 0x00, 0x12, 1, 0],
            [1, 0x71, 0x12, 65] + Array(repeating: 0, count: 65),
            [1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0x12, 0],
            [0x12, 32] + Array(repeating: 0, count: 32),
        ] as [[UInt8]])
    func refusesBytes(_ bytes: [UInt8]) {
        #expect(throws: SyntaxError.self) { try CID(bytes: bytes) }
    }
}

@Suite(.enabled(if: SharedCorpus.isPresent, "the shared corpus is absent")) struct CIDCorpusTests {
    @Test func acceptsAndRefusesWhatTheCorpusDoes() throws {
        // Contrived: their alphabet is a CID's, but no multihash is inside, so that no bytes can be had from them.
        let textAlone: Set = ["mBcDxtdWx0aWhhc2g+", "z7x3CtScH765HvShXT", "7134036155352661643226414134664076"]
        for text in try SharedCorpus.cases("interop/syntax/cid_syntax_valid.txt") {
            #expect(CID.isValid(text), "refuses \(text)")
            #expect(((try? CID(text)) == nil) == textAlone.contains(text), "\(text)")
        }
        for text in try SharedCorpus.cases("interop/syntax/cid_syntax_invalid.txt") {
            #expect(!CID.isValid(text), "accepts \(text)")
            #expect(throws: SyntaxError.self) { try CID(text) }
        }
    }
}
