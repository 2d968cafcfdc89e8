import Testing

@testable import Crypto

@Suite struct JSONWebTokenTests {
    // RFC 7515, appendix A.3.
    static let example =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    static func exampleKey() throws -> PublicKey {
        let x = try Base64.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", .url)
        let y = try Base64.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", .url)
        return try PublicKey(.p256, point: [4] + x + y)
    }

    @Test func verifiesTheExampleOfTheRFC() throws {
        let token = try JSONWebToken(Self.example)
        #expect(String(decoding: token.header, as: UTF8.self) == #"{"alg":"ES256"}"#)
        #expect(token.isSigned(by: try Self.exampleKey()))
        #expect(!token.isSigned(by: try PrivateKey.generate(.p256).publicKey))
        #expect(!token.isSigned(by: try PrivateKey.generate(.k256).publicKey))
    }

    @Test(arguments: Curve.allCases) func makesTokensThatVerify(_ curve: Curve) throws {
        let key = try PrivateKey.generate(curve)
        let token = try JSONWebToken(
            header: [UInt8](#"{"alg":"X"}"#.utf8), claims: [UInt8](#"{"iat":1}"#.utf8), signedBy: key)
        let read = try JSONWebToken(token.text)
        #expect(read.claims == token.claims && read.signature.count == 64)
        #expect(read.isSigned(by: key.publicKey, requireLowS: true))
        #expect(!"\(token)".contains(token.text.suffix(20)))
    }

    @Test(arguments: [
        "", ".", "..", "a.b", "a.b.c.d", example + ".", example + "=", example + " ", "e30..", "..e30", "e30.e30.%%%",
        String(repeating: "A", count: 20_000) + ".e30.e30",
    ])
    func refuses(_ text: String) {
        #expect(throws: CodingError.self) { try JSONWebToken(text) }
    }

    @Test func anAlteredTokenFails() throws {
        let parts = Self.example.split(separator: ".")
        let altered = try JSONWebToken("\(parts[0]).e30.\(parts[2])")
        #expect(!altered.isSigned(by: try Self.exampleKey()))
    }
}
