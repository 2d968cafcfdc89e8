import Testing

@testable import Crypto

@Suite struct KeyTests {
    static let message = [UInt8]("oh, hello".utf8)

    @Test(arguments: Curve.allCases) func signsAndVerifies(_ curve: Curve) throws {
        let key = try PrivateKey.generate(curve)
        for round in 0..<20 {
            let message = Self.message + [UInt8(round)]
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.verify(signature, of: message))
            #expect(!key.publicKey.verify(signature, of: Self.message))
            #expect(try !PrivateKey.generate(curve).publicKey.verify(signature, of: message))
            var damaged = signature
            damaged[round] ^= 1
            #expect(!key.publicKey.verify(damaged, of: message))
        }
    }

    @Test(arguments: Curve.allCases) func highSignaturesPassOnlyWhereAllowed(_ curve: Curve) throws {
        let key = try PrivateKey.generate(curve)
        let signature = try key.sign(Self.message)
        let high = Array(signature[..<32]) + curve.negated(signature[32...])
        #expect(!key.publicKey.verify(high, of: Self.message))
        #expect(key.publicKey.verify(high, of: Self.message, requireLowS: false))
    }

    @Test(arguments: Curve.allCases) func refusesSignaturesOutOfRange(_ curve: Curve) throws {
        let key = try PrivateKey.generate(curve)
        let signature = try key.sign(Self.message)
        let zero = [UInt8](repeating: 0, count: 32)
        let malformed: [[UInt8]] = [
            [], zero, zero + zero, Array(signature[..<32]) + zero, zero + Array(signature[32...]),
            curve.order + Array(signature[32...]),
            Array(signature[..<32]) + curve.order, signature + [0], Array(signature.dropLast()),
            [UInt8](repeating: 255, count: 64),
        ]
        for bytes in malformed {
            #expect(!key.publicKey.verify(bytes, of: Self.message, requireLowS: false))
        }
        #expect(!key.publicKey.verify(signature, ofDigest: [1, 2, 3]))
    }

    @Test func secp256k1SignaturesAreThoseOfRFC6979() throws {
        // The well-known vector: key 1, message "Satoshi Nakamoto".
        let key = try PrivateKey(.k256, scalar: [UInt8](repeating: 0, count: 31) + [1])
        #expect(
            Base16.encode(try key.sign([UInt8]("Satoshi Nakamoto".utf8)))
                == "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8"
                + "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5")
    }

    @Test(arguments: Curve.allCases) func keysSurviveEveryForm(_ curve: Curve) throws {
        let key = try PrivateKey.generate(curve).publicKey
        #expect(try PublicKey(didKey: key.didKey) == key)
        #expect(try PublicKey(multikey: key.multikey) == key)
        #expect(try PublicKey(curve, multibase: Multibase.encodeBase58(key.point)) == key)
        #expect(try PublicKey(curve, point: key.point) == key)
    }

    @Test(arguments: [
        (
            "9085d2bef69286a6cbb51623c8fa258629945cd55ca705cc4e66700396894e0c",
            "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme"
        ),
        (
            "175a232d440be1e0788f25488a73d9416c04b6f924bea6354bf05dd2f1a75133",
            "did:key:zQ3shptjE6JwdkeKN4fcpnYQY3m9Cet3NiHdAfpvSUZBFoKBj"
        ),
    ])
    func derivesDIDKeysOfSecp256k1(_ scalar: String, _ didKey: String) throws {
        #expect(try PrivateKey(.k256, scalar: Base16.decode(scalar)).publicKey.didKey == didKey)
    }

    @Test func derivesDIDKeysOfP256() throws {
        let scalar = try Base58.decode("9p4VRzdmhsnq869vQjVCTrRry7u4TtfRxhvBFJTGU2Cp")
        #expect(
            try PrivateKey(.p256, scalar: scalar).publicKey.didKey
                == "did:key:zDnaeTiq1PdzvZXUaMdezchcMJQpBdH2VN4pgrrEhMCCbmwSb")
    }

    @Test func compressesPoints() throws {
        // The generator of P-256, uncompressed.
        let x = try Base16.decode("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
        let y = try Base16.decode("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
        #expect(try PublicKey(.p256, point: [4] + x + y).point == [3] + x)
    }

    @Test(arguments: Curve.allCases) func refusesPointsOffTheCurve(_ curve: Curve) {
        let malformed: [[UInt8]] = [
            [], [0], [2], [2] + [UInt8](repeating: 255, count: 32), [4] + [UInt8](repeating: 1, count: 64),
            [5] + [UInt8](repeating: 1, count: 32),
            [6] + [UInt8](repeating: 1, count: 64), [2] + [UInt8](repeating: 1, count: 33),
        ]
        for point in malformed {
            #expect(throws: KeyError.self) { try PublicKey(curve, point: point) }
        }
    }

    @Test(arguments: [
        "", "did:key:", "did:key:z", "did:key:zzzz", "did:web:x",
        "did:key:Q3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme",
        "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBm",
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    ])
    func refusesDIDKeys(_ text: String) {
        #expect(throws: KeyError.self) { try PublicKey(didKey: text) }
    }

    @Test(arguments: Curve.allCases) func refusesScalarsOutOfRange(_ curve: Curve) {
        for scalar in [
            [], [1], [UInt8](repeating: 0, count: 32), curve.order, [UInt8](repeating: 255, count: 32),
            [UInt8](repeating: 1, count: 33),
        ] {
            #expect(throws: KeyError.self) { try PrivateKey(curve, scalar: scalar) }
        }
    }

    @Test(arguments: Curve.allCases) func descriptionsKeepTheSecret(_ curve: Curve) throws {
        let scalar = [UInt8](repeating: 7, count: 32)
        let key = try PrivateKey(curve, scalar: scalar)
        var dumped = ""
        dump(key, to: &dumped)
        for text in [key.description, key.debugDescription, dumped, "\(key)", String(reflecting: [key])] {
            #expect(!text.contains("7, 7") && !text.contains("0707") && !text.contains("UInt8"))
        }
    }
}
