import Foundation
import Testing

@testable import Crypto

/// The folder of the protocol's own fixtures, outside the repository.
private enum Fixtures {
    static let folder: URL = {
        let root =
            ProcessInfo.processInfo.environment["HARK_SHARED"].map { URL(fileURLWithPath: $0) }
            ?? URL(fileURLWithPath: #filePath + "/../../../../shared").standardized
        return root.appendingPathComponent("corpus/interop/crypto")
    }()
    static let arePresent = FileManager.default.fileExists(atPath: folder.path)
}

/// The protocol's own signature and key fixtures, where the shared corpus is there.
@Suite(.enabled(if: Fixtures.arePresent, "the shared corpus is absent")) struct InteropTests {
    private func fixtures(_ name: String) throws -> [[String: Any]] {
        let data = try Data(contentsOf: Fixtures.folder.appendingPathComponent(name))
        return try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    @Test func signatures() throws {
        for fixture in try fixtures("signature-fixtures.json") {
            func text(_ key: String) throws -> String { try #require(fixture[key] as? String) }
            let message = try Base64.decode(text("messageBase64"))
            let signature = try Base64.decode(text("signatureBase64"))
            let key = try PublicKey(didKey: text("publicKeyDid"))
            #expect(try key.curve.algorithm == text("algorithm"))
            #expect(try PublicKey(key.curve, multibase: text("publicKeyMultibase")) == key)
            let isValid = try #require(fixture["validSignature"] as? Bool)
            #expect(key.verify(signature, of: message) == isValid, "\(fixture["comment"] ?? "")")
            let isHigh = (fixture["tags"] as? [String])?.contains("high-s") == true
            #expect(key.verify(signature, of: message, requireLowS: false) == (isValid || isHigh))
        }
    }

    @Test func keys() throws {
        for fixture in try fixtures("w3c_didkey_K256.json") {
            let scalar = try Base16.decode(try #require(fixture["privateKeyBytesHex"] as? String))
            #expect(try PrivateKey(.k256, scalar: scalar).publicKey.didKey == fixture["publicDidKey"] as? String)
        }
        for fixture in try fixtures("w3c_didkey_P256.json") {
            let scalar = try Base58.decode(try #require(fixture["privateKeyBytesBase58"] as? String))
            #expect(try PrivateKey(.p256, scalar: scalar).publicKey.didKey == fixture["publicDidKey"] as? String)
        }
    }
}
