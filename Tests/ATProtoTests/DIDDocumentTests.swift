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
