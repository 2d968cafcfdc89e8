import Testing

@testable import ATProto

/// The same numbers for the same seed. Source: splitmix64.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite("JSON: mutations")
struct JSONFuzzTests {
    static let seeds = [
        #"{"$type":"a.b.c","text":"caf\u00e9 \uD83D\uDE00 ☕️","n":[0,-1,9223372036854775807,1.0],"b":{"$bytes":"AQID"}}"#,
        #"{"did":"did:plc:abc","time_us":1,"kind":"commit","commit":{"rev":"3kabc","operation":"create","collection":"a.b.c","rkey":"self","record":{"x":null},"cid":"bafy"}}"#,
        #"[[[{"a":{"b":[true,false,null,"\u0000\n"]}}]],{"l":{"$link":"bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"}}]"#,
    ]

    static func mutate(_ text: String, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0..<max(bytes.count, 1), using: &random)
            guard index < bytes.count else { continue }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(#"{}[]",:\u0019.-e "#.utf8.randomElement(using: &random) ?? 0, at: index)
            case 3: bytes.removeSubrange(index...)
            case 4: bytes.insert(contentsOf: bytes[index..<min(index + 9, bytes.count)], at: index)
            default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
        return bytes
    }

    @Test("Whatever is accepted is written and read again alike", arguments: [JSON.Dialect.dataModel, .plain])
    func survivesMutations(_ dialect: JSON.Dialect) throws {
        var random = SeededGenerator(state: 7)
        var accepted = 0
        for round in 0..<9_000 {
            let bytes = Self.mutate(Self.seeds[round % Self.seeds.count], &random)
            guard let value = try? JSON.decode(bytes, as: dialect) else { continue }
            accepted += 1
            let written = JSON.encode(value)
            let again = try JSON.decode(written, as: dialect)
            #expect(JSON.encode(again) == written)
            if dialect == .dataModel { #expect(try DAGCBOR.decode(DAGCBOR.encode(value)) == value) }
        }
        #expect(accepted > 500)
    }

    @Test func jetstreamSurvivesMutations() {
        var random = SeededGenerator(state: 11)
        for _ in 0..<6_000 {
            let bytes = Self.mutate(Self.seeds[1], &random)
            _ = try? JetstreamLine.decode(bytes, keep: .everything)
            _ = try? JetstreamLine.decode(bytes, keep: CollectionFilter(["x.y.z"]))
        }
    }

    @Test func lexiconsSurviveMutations() throws {
        var random = SeededGenerator(state: 13)
        for _ in 0..<4_000 {
            guard let lexicon = try? Lexicon(json: Self.mutate(LexiconSamples.everything, &random)) else { continue }
            let record = try? JSON.decode(Self.mutate(LexiconSamples.record, &random))
            guard let record else { continue }
            _ = Lexicons([lexicon]).validate(record, as: lexicon.id)
        }
    }
}
