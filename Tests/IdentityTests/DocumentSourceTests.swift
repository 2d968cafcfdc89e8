import ATProto
import TestSupport
import Testing

@testable import Identity

/// Where documents are fetched, and which DIDs name no place.
@Suite(.fewAtATime) struct DocumentSourceTests {
    private func url(_ did: String, allowed: Set<String> = []) throws -> String {
        var options = IdentityResolver.Options()
        options.directory = "https://plc.test/"
        options.allowedHosts = allowed
        return try DocumentSource(try DID(did), options).url
    }

    @Test func namesDirectoryAndDomain() throws {
        #expect(
            try url("did:plc:ewvi7nxzyoun6zhxrhs64oiz") == "https://plc.test/did:plc:ewvi7nxzyoun6zhxrhs64oiz")
        #expect(try url("did:web:ada.example.com") == "https://ada.example.com/.well-known/did.json")
        #expect(try url("did:web:localhost%3A80", allowed: ["localhost"]) == "http://localhost:80/.well-known/did.json")
    }

    @Test(arguments: [
        "did:plc:short", "did:plc:ewvi7nxzyoun6zhxrhs64oi1", "did:plc:EWVI7nxzyoun6zhxrhs64oiz",
        "did:web:ada.example.com:users:ada", "did:web:ada.example.com%3A8443", "did:web:localhost", "did:web:127.0.0.1",
        "did:web:127.0.0.1%3A80", "did:web:ada.example.com%2Fpath", "did:key:z6Mk",
    ])
    func refuses(did: String) {
        #expect(throws: IdentityError.self) { try url(did) }
    }
}
