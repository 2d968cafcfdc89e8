import Testing

@testable import Net

@Suite struct EndpointTests {
    @Test(arguments: [
        ("localhost:443", "localhost", UInt16(443)), ("127.0.0.1:0", "127.0.0.1", 0), ("[::1]:65535", "::1", 65_535),
        ("api.push.apple.com:2197", "api.push.apple.com", 2197),
    ])
    func reads(text: String, host: String, port: UInt16) throws {
        let endpoint = try #require(Endpoint(text))
        #expect(endpoint == Endpoint(host: host, port: port))
        #expect(endpoint.description == text)
    }

    @Test(arguments: [
        "", ":", "localhost", "localhost:", ":443", "localhost:65536", "localhost:-1", "localhost:+1", "localhost:4 ",
        "::1:443", "[::1]", "[::1]443", "[]:443", "[localhost]:443", "a b:1", "user@host:1", "http://host:1",
        "host:1\n",
        "host\u{0}:1",
    ])
    func refuses(text: String) { #expect(Endpoint(text) == nil) }
}
