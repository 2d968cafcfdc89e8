import Testing

@testable import Crypto

@Suite struct EncodingTests {
    static let samples: [[UInt8]] = (0...40).map { count in
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
    }

    @Test(arguments: samples) func everyEncodingRoundTrips(_ bytes: [UInt8]) throws {
        #expect(try Base16.decode(Base16.encode(bytes)) == bytes)
        #expect(try Base32.decode(Base32.encode(bytes)) == bytes)
        #expect(try Base58.decode(Base58.encode(bytes)) == bytes)
        for alphabet in [Base64.Alphabet.standard, .url] {
            #expect(try Base64.decode(Base64.encode(bytes, alphabet), alphabet) == bytes)
            let padded = Base64.encode(bytes, alphabet, padding: .required)
            #expect(padded.utf8.count % 4 == 0)
            #expect(try Base64.decode(padded, alphabet, padding: .required) == bytes)
            #expect(try Base64.decode(padded, alphabet, padding: .optional) == bytes)
        }
    }

    // RFC 4648 §10, in lowercase and without padding where ours are.
    @Test(arguments: [
        ("", "", "", ""), ("f", "66", "my", "Zg=="), ("fo", "666f", "mzxq", "Zm8="), ("foo", "666f6f", "mzxw6", "Zm9v"),
        ("foob", "666f6f62", "mzxw6yq", "Zm9vYg=="), ("foobar", "666f6f626172", "mzxw6ytboi", "Zm9vYmFy"),
    ])
    func matchesRFC4648(_ text: String, _ base16: String, _ base32: String, _ base64: String) {
        let bytes = [UInt8](text.utf8)
        #expect(Base16.encode(bytes) == base16)
        #expect(Base32.encode(bytes) == base32)
        #expect(Base64.encode(bytes, padding: .required) == base64)
    }

    @Test func matchesBase58Vectors() throws {
        // From the draft draft-msporny-base58.
        #expect(Base58.encode([UInt8]("Hello World!".utf8)) == "2NEpo7TZRRrLZSi2U")
        #expect(Base58.encode([0, 0, 0x28, 0x7f, 0xb4, 0xcd]) == "11233QC4")
        #expect(try Base58.decode("11233QC4") == [0, 0, 0x28, 0x7f, 0xb4, 0xcd])
    }

    @Test(arguments: ["a", "abc", "abcdef", "MY", "my======", "m1", "mz", "my\n", "m "]) func refusesBase32(
        _ text: String
    ) {
        #expect(throws: CodingError.self) { try Base32.decode(text) }
    }

    @Test(arguments: ["A", "AAAAA", "Zh", "Zg=", "Zg==", "Zm9=", "Zm9v=", "Zm9v====", "=", "==", "Z g", "Zm-_", "Zg\0"])
    func refusesBase64(_ text: String) {
        #expect(throws: CodingError.self) { try Base64.decode(text) }
    }

    @Test(arguments: ["Zg", "Zg=", "Zg===", "Z===", "Zh==", "====", "Zm9v="]) func refusesPadding(_ text: String) {
        #expect(throws: CodingError.self) { try Base64.decode(text, padding: .required) }
    }

    @Test(arguments: ["0", "O", "I", "l", "é", " 1", String(repeating: "z", count: 513)]) func refusesBase58(
        _ text: String
    ) {
        #expect(throws: CodingError.self) { try Base58.decode(text) }
    }

    @Test(arguments: ["", "x00", "7123", "Qm", "bMY"]) func refusesMultibase(_ text: String) {
        #expect(throws: CodingError.self) { try Multibase.decode(text) }
    }

    // FIPS 180-2, appendix B, and the digest of nothing.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func hashesWithSHA256(_ text: String, _ digest: String) {
        #expect(Base16.encode(SHA256.hash([UInt8](text.utf8))) == digest)
    }
}
