import Testing

@testable import Crypto

/// Keys made with `openssl ecparam`, `openssl pkcs8` and `openssl genpkey` for these tests alone.
@Suite struct PEMTests {
    @Test func readsPKCS8() throws {
        let key = try PrivateKey(pem: PEM.pkcs8)
        #expect(key.curve == .p256)
        #expect(Base16.encode(key.publicKey.point) == PEM.point)
        #expect(key.publicKey.verify(try key.sign([1, 2, 3]), of: [1, 2, 3]))
    }

    @Test func readsSEC1WithParametersAndWindowsLineEnds() throws {
        #expect(try PrivateKey(pem: PEM.sec1).publicKey == PrivateKey(pem: PEM.pkcs8).publicKey)
        let windows = PEM.pkcs8.split(separator: "\n").joined(separator: "\r\n")
        #expect(try PrivateKey(pem: windows).publicKey == PrivateKey(pem: PEM.pkcs8).publicKey)
    }

    /// Named, so that no key is printed.
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var reason: String

        init(_ name: String, _ text: String, _ reason: String) {
            (testDescription, self.text, self.reason) = (name, text, reason)
        }
    }

    @Test(arguments: [
        Refused("nothing", "", "not PEM"), Refused("text", "hello", "not PEM"),
        Refused("a password", PEM.encrypted, "encrypted"), Refused("P-384", PEM.otherCurve, "another curve"),
        Refused("RSA", PEM.rsa, "P-256 expected"), Refused("a public key", PEM.publicKey, "PUBLIC KEY"),
        Refused("half a file", String(PEM.pkcs8.prefix(90)), "cut off"),
        Refused("other letters", PEM.pkcs8.replacingCharacter("M", with: "N"), "damaged"),
    ])
    func refusesWithTheReason(_ refused: Refused) {
        let error = #expect(throws: KeyError.self) { try PrivateKey(pem: refused.text) }
        #expect(error?.description.contains(refused.reason) == true, "\(error as Any)")
    }
}

extension String {
    fileprivate func replacingCharacter(_ old: Character, with new: Character) -> String {
        String(map { $0 == old ? new : $0 })
    }
}
