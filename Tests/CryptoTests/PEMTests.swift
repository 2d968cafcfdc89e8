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

    @Test(arguments: [
        ("", "not PEM"), ("hello", "not PEM"), (PEM.encrypted, "encrypted"), (PEM.otherCurve, "another curve"),
        (PEM.rsa, "P-256 expected"),
        (PEM.publicKey, "PUBLIC KEY"), (String(PEM.pkcs8.prefix(90)), "cut off"),
        (PEM.pkcs8.replacingCharacter("M", with: "N"), "damaged"),
    ])
    func refusesWithTheReason(_ text: String, _ reason: String) {
        let error = #expect(throws: KeyError.self) { try PrivateKey(pem: text) }
        #expect(error?.description.contains(reason) == true, "\(error as Any)")
    }
}

extension String {
    fileprivate func replacingCharacter(_ old: Character, with new: Character) -> String {
        String(map { $0 == old ? new : $0 })
    }
}
