import Crypto
import Foundation
import Testing

@testable import ATProto

@Suite struct DIDDocumentTests {
    private let did = "did:plc:adaaaaaaaaaaaaaaaaaaaaaa"

    private func document(_ methods: String, id: String? = nil) throws -> DIDDocument {
        let json = """
            {"@context":["https://www.w3.org/ns/did/v1"],"id":"\(id ?? did)","alsoKnownAs":["at://ada.test"],
            "verificationMethod":[\(methods)],"service":[{"id":"#atproto_pds","type":"AtprotoPersonalDataServer",
            "serviceEndpoint":"https://pds.test"}]}
            """
        return try DIDDocument(json: Array(json.utf8), did: DID(did))
    }

    @Test(arguments: [Curve.k256, .p256]) func readsAMultikey(curve: Curve) throws {
        let key = try PrivateKey.generate(curve).publicKey
        let read = try document(
            #"{"id":"\#(did)#atproto","type":"Multikey","controller":"\#(did)","publicKeyMultibase":"\#(key.multikey)"}"#
        )
        #expect(read.signingKey == key)
        #expect(read.handle?.description == "ada.test")
        #expect(read.pds == "https://pds.test")
    }

    /// As the directory wrote them until 2023, with the fragment alone for an id.
    @Test(arguments: [
        (Curve.k256, "EcdsaSecp256k1VerificationKey2019"), (.p256, "EcdsaSecp256r1VerificationKey2019"),
    ])
    func readsTheOlderKeyTypes(curve: Curve, type: String) throws {
        let key = try PrivateKey.generate(curve).publicKey
        func method(_ multibase: String, type: String) -> String {
            ##"{"id":"#atproto","type":"\##(type)","controller":"\##(did)","publicKeyMultibase":"\##(multibase)"}"##
        }
        for point in [key.uncompressedPoint, key.point] {
            #expect(try document(method(Multibase.encodeBase58(point), type: type)).signingKey == key)
        }
        // A multicodec prefix belongs to the newer type, and a point to its own curve.
        #expect(try document(method(key.multikey, type: type)).signingKey == nil)
        #expect(try document(method(Multibase.encodeBase58(key.uncompressedPoint), type: "Multikey")).signingKey == nil)
        let other = curve == .k256 ? "EcdsaSecp256r1VerificationKey2019" : "EcdsaSecp256k1VerificationKey2019"
        #expect(try document(method(Multibase.encodeBase58(key.uncompressedPoint), type: other)).signingKey == nil)
        #expect(try document(method(key.multikey, type: "Ed25519VerificationKey2020")).signingKey == nil)
    }

    @Test(arguments: [
        #""publicKeyMultibase":"z""#, #""publicKeyMultibase":"""#, #""publicKeyMultibase":"zQ3sh0OIl""#,
        #""publicKeyMultibase":1"#, #""publicKeyMultibase":null"#, #""publicKeyJwk":{}"#,
        #""publicKeyMultibase":"uAAAA""#, #""publicKeyMultibase":"z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK""#,
    ])
    func aMalformedKeyIsNone(member: String) throws {
        let method = ##"{"id":"#atproto","type":"Multikey","controller":"\##(did)",\##(member)}"##
        #expect(try document(method).signingKey == nil)
    }

    @Test func aKeyThatAnotherControlsIsNotTheAccounts() throws {
        let key = try PrivateKey.generate(.k256).publicKey.multikey
        let method = ##"{"id":"#atproto","type":"Multikey","controller":"did:plc:bo","publicKeyMultibase":"\##(key)"}"##
        #expect(try document(method).signingKey == nil)
    }

    @Test func otherKeysAreNotTheAccounts() throws {
        let key = try PrivateKey.generate(.k256).publicKey
        let read = try document(
            #"{"id":"\#(did)#other","type":"Multikey","controller":"\#(did)","publicKeyMultibase":"\#(key.multikey)"}"#)
        #expect(read.signingKey == nil)
    }

    @Test func aDocumentOfAnotherIsRefused() {
        #expect(throws: DecodingFailure.self) { try document("", id: "did:plc:boaaaaaaaaaaaaaaaaaaaaaa") }
    }
}
