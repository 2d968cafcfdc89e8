import Foundation
import Storage
import TestSupport
import Testing

@testable import Crypto
@testable import XRPC

/// Every way in which a service token can be wrong, and by which name it is refused.
@Suite(.fewAtATime) struct ServiceTokenRefusalTests {
    private static let method = "social.hatk.push.listDevices"

    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var error: String
        /// Gets Ada, whom the directory knows, and the time in seconds since 1970.
        var token: @Sendable (Account, Int64) throws -> String

        init(_ name: String, _ error: String, _ token: @escaping @Sendable (Account, Int64) throws -> String) {
            testDescription = name
            self.error = error
            self.token = token
        }
    }

    static let times: [Refusal] = [
        Refusal("expired", "ExpiredToken") { try $0.token(method, exp: $1 - 31) },
        Refusal("expired long ago", "ExpiredToken") { ada, _ in try ada.token(method, exp: 0) },
        Refusal("expires too late", "InvalidToken") { try $0.token(method, exp: $1 + 600) },
        Refusal("expires in the year 3000", "InvalidToken") { ada, _ in try ada.token(method, exp: 32_503_680_000) },
        Refusal("milliseconds for seconds", "InvalidToken") { try $0.token(method, exp: ($1 + 60) * 1000) },
        Refusal("issued in the future", "InvalidToken") { try $0.token(method, extra: ",\"iat\":\($1 + 120)") },
        Refusal("not valid yet", "InvalidToken") { try $0.token(method, extra: ",\"nbf\":\($1 + 120)") },
        Refusal("an expiry before 1970", "InvalidToken") { try $0.token(method, exp: -1 - $1) },
        Refusal("a text for a time", "InvalidToken") { try $0.token(method, extra: ",\"iat\":\"\($1)\"") },
        Refusal("a fraction for a time", "InvalidToken") { try $0.token(method, extra: ",\"iat\":\($1).5") },
        Refusal("null for a time", "InvalidToken") { ada, _ in try ada.token(method, extra: ",\"nbf\":null") },
        Refusal("no expiry", "InvalidToken") { ada, _ in
            try ada.sign(claims: "{\"iss\":\"\(ada.did)\",\"aud\":\"did:web:push.test\",\"lxm\":\"\(method)\"}")
        },
    ]

    static let aims: [Refusal] = [
        Refusal("another server", "BadJwtAudience") { ada, _ in try ada.token(method, aud: "did:web:other.test") },
        Refusal("a longer name", "BadJwtAudience") { ada, _ in try ada.token(method, aud: "did:web:push.test.evil") },
        Refusal("a shorter name", "BadJwtAudience") { ada, _ in try ada.token(method, aud: "did:web:push") },
        Refusal("another spelling", "BadJwtAudience") { ada, _ in try ada.token(method, aud: "did:web:PUSH.test") },
        Refusal("an empty service", "BadJwtAudience") { ada, _ in try ada.token(method, aud: "did:web:push.test#") },
        Refusal("a path", "BadJwtAudience") { ada, _ in try ada.token(method, aud: "did:web:push.test/hark") },
        Refusal("a URL", "BadJwtAudience") { ada, _ in try ada.token(method, aud: "https://push.test") },
        Refusal("nobody", "BadJwtAudience") { ada, _ in try ada.token(method, aud: nil) },
        Refusal("several servers", "BadJwtAudience") { ada, now in
            try ada.sign(
                claims: """
                    {"iss":"\(ada.did)","aud":["did:web:push.test"],"lxm":"\(method)","exp":\(now + 60)}
                    """)
        },
        Refusal("another method", "BadJwtLexiconMethod") { ada, _ in try ada.token("social.hatk.push.removeDevice") },
        Refusal("the other family", "BadJwtLexiconMethod") { ada, _ in try ada.token("dev.hatk.push.listDevices") },
        Refusal("another spelling of it", "BadJwtLexiconMethod") { ada, _ in try ada.token(method.uppercased()) },
        Refusal("no method", "BadJwtLexiconMethod") { ada, _ in try ada.token(nil) },
        Refusal("any method", "BadJwtLexiconMethod") { ada, _ in try ada.token("*") },
    ]

    static let issuers: [Refusal] = [
        Refusal("no DID", "InvalidToken") { ada, _ in try ada.token(method, iss: "ada") },
        Refusal("another account", "InvalidToken") { ada, _ in
            try ada.token(method, iss: "did:plc:bobaaaaaaaaaaaaaaaaaaaaa")
        },
        Refusal("an unsupported method", "InvalidToken") { ada, _ in
            try ada.token(method, iss: ada.key.publicKey.didKey)
        },
        Refusal("an empty fragment", "InvalidToken") { ada, _ in try ada.token(method, iss: ada.did + "#") },
        Refusal("two fragments", "InvalidToken") { ada, _ in try ada.token(method, iss: ada.did + "#a#b") },
        Refusal("a path", "InvalidToken") { ada, _ in try ada.token(method, iss: ada.did + "/a") },
        Refusal("a NUL", "InvalidToken") { ada, _ in try ada.token(method, iss: ada.did + "\\u0000") },
        Refusal("this machine", "InvalidToken") { ada, _ in try ada.token(method, iss: "did:web:localhost") },
        Refusal("an address", "InvalidToken") { ada, _ in try ada.token(method, iss: "did:web:127.0.0.1") },
        Refusal("an empty jti", "InvalidToken") { ada, _ in try ada.token(method, jti: "") },
        Refusal("a long jti", "InvalidToken") { ada, _ in
            try ada.token(method, jti: String(repeating: "x", count: 513))
        },
        Refusal("a number for a jti", "InvalidToken") { ada, _ in try ada.token(method, jti: nil, extra: ",\"jti\":1")
        },
        Refusal("a claim twice", "InvalidToken") { ada, _ in
            try ada.token(method, extra: ",\"aud\":\"did:web:push.test\"")
        },
    ]

    static let headers: [Refusal] = [
        ("no algorithm", "{\"typ\":\"JWT\"}"), ("none", "{\"typ\":\"JWT\",\"alg\":\"none\"}"),
        ("None", "{\"alg\":\"None\"}"), ("HS256", "{\"typ\":\"JWT\",\"alg\":\"HS256\"}"),
        ("ES384", "{\"typ\":\"JWT\",\"alg\":\"ES384\"}"), ("RS256", "{\"typ\":\"JWT\",\"alg\":\"RS256\"}"),
        ("lowercase", "{\"typ\":\"JWT\",\"alg\":\"es256k\"}"),
        ("the other curve", "{\"typ\":\"JWT\",\"alg\":\"ES256\"}"),
        ("two algorithms", "{\"alg\":[\"ES256K\"]}"), ("an access token", "{\"typ\":\"at+jwt\",\"alg\":\"ES256K\"}"),
        ("a refresh token", "{\"typ\":\"refresh+jwt\",\"alg\":\"ES256K\"}"),
        ("a proof", "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256K\"}"), ("no type's name", "{\"typ\":1,\"alg\":\"ES256K\"}"),
        ("critical headers", "{\"alg\":\"ES256K\",\"crit\":[\"exp\"]}"), ("an array", "[\"ES256K\"]"),
        ("nothing", "{}"),
        ("an algorithm twice", "{\"alg\":\"ES256K\",\"alg\":\"ES256K\"}"), ("no JSON", "alg=ES256K"),
    ].map { name, header in Refusal(name, "InvalidToken") { ada, _ in try ada.token(method, header: header) } }

    static let signatures: [Refusal] = [
        Refusal("another key", "InvalidToken") { ada, _ in try ada.token(method, signedBy: .generate(.k256)) },
        Refusal("another curve", "InvalidToken") { ada, _ in try ada.token(method, signedBy: .generate(.p256)) },
        Refusal("another curve under the account's algorithm", "InvalidToken") { ada, _ in
            try ada.token(method, header: "{\"alg\":\"ES256K\"}", signedBy: .generate(.p256))
        },
        signature("none") { _ in [] }, signature("zeros") { _ in [UInt8](repeating: 0, count: 64) },
        signature("r of zero") { [UInt8](repeating: 0, count: 32) + $0[32...] },
        signature("s of zero") { $0[..<32] + [UInt8](repeating: 0, count: 32) },
        signature("r of n") { Curve.k256.order + $0[32...] }, signature("s of n") { $0[..<32] + Curve.k256.order },
        signature("r of all ones") { [UInt8](repeating: 0xFF, count: 32) + $0[32...] },
        signature("s negated and r, too") { Curve.k256.negated($0[..<32]) + Curve.k256.negated($0[32...]) },
        signature("a byte less") { Array($0.dropLast()) }, signature("a byte more") { $0 + [0] },
        signature("a zero in front") { [0] + $0 }, signature("s before r") { Array($0[32...] + $0[..<32]) },
        signature("twice") { $0 + $0 }, signature("a bit turned") { [$0[0] ^ 1] + $0[1...] },
        signature("DER in place of r and s") { Signature($0, .k256)?.der ?? [] },
        Refusal("claims that were changed", "InvalidToken") { ada, now in
            let parts = try ada.token(method).split(separator: ".")
            let claims = try ada.token(method, exp: now + 120).split(separator: ".")[1]
            return "\(parts[0]).\(claims).\(parts[2])"
        },
    ]

    private static func signature(
        _ name: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> Refusal {
        Refusal(name, "InvalidToken") { ada, _ in
            let token = try JSONWebToken(try ada.token(method))
            let signed = token.text.split(separator: ".").dropLast().joined(separator: ".")
            return "\(signed).\(Base64.encode(change(token.signature), .url))"
        }
    }

    static let garbage: [Refusal] =
        [
            "garbage", ".", "..", "...", "a.b.c", "🦆.🦆.🦆", "e30.e30.e30", "e30.e30", "e30=.e30=.e30=",
            "bnVsbA.bnVsbA.bnVsbA",
            String(repeating: "a", count: 10_000), String(repeating: ".", count: 4000),
        ].map { text in Refusal("garbage", "InvalidToken") { _, _ in text } } + [
            Refusal("padding", "InvalidToken") { ada, _ in try ada.token(method) + "==" },
            Refusal("a fourth part", "InvalidToken") { ada, _ in try ada.token(method) + ".e30" },
            Refusal("a space within", "InvalidToken") { ada, _ in
                try ada.token(method).replacing(".", with: ". ", maxReplacements: 1)
            },
            Refusal("the other alphabet", "InvalidToken") { ada, _ in try ada.token(method) + "+/" },
        ]

    @Test(arguments: times + aims + issuers) func refusesClaims(_ refusal: Refusal) async throws {
        try await refuses(refusal)
    }

    @Test(arguments: headers + garbage) func refusesForms(_ refusal: Refusal) async throws {
        try await refuses(refusal)
    }

    @Test(arguments: signatures) func refusesSignatures(_ refusal: Refusal) async throws { try await refuses(refusal) }

    private func refuses(_ refusal: Refusal) async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        _ = try stage.account("bob")
        let token = try refusal.token(ada, Int64(Date().timeIntervalSince1970))
        let answer = try await stage.call(Self.method, token: token)
        #expect(answer.status == 401)
        #expect(answer.error == refusal.error, "\(answer.text)")
        #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer ") == true)
        #expect(token.count < 20 || !answer.text.contains(token))
        // The account is not locked out for what a stranger did.
        #expect(try await stage.call(Self.method, ada).status == 200)
        await stage.stop()
    }

    /// Of a signature and its mirror image both pass, as with the reference; the second is no second use of the token.
    @Test(arguments: [Curve.k256, .p256]) func highSPasses(curve: Curve) async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada", curve)
        let low = try JSONWebToken(try ada.token(Self.method))
        let high = low.signature[..<32] + curve.negated(low.signature[32...])
        let text =
            low.text.split(separator: ".").dropLast().joined(separator: ".") + "." + Base64.encode([UInt8](high), .url)
        #expect(try await stage.call(Self.method, token: text).status == 200)
        let again = try await stage.call(Self.method, token: low.text)
        #expect(again.status == 401)
        #expect(again.error == "InvalidToken")
        await stage.stop()
    }

    static let authorizations = ["", "Bearer", "Bearer ", "Basic YTpi", "DPoP x", "Bearer\tx", "x"]

    @Test(arguments: authorizations) func refusesOtherAuthorizations(_ value: String) async throws {
        let stage = try PushStage()
        let answer = try await WireClient.ask(
            stage.server.port, "GET", "/xrpc/\(Self.method)", headers: ["Authorization": value])
        #expect(answer.status == 401)
        #expect(answer.error == "InvalidToken" || answer.error == "AuthMissing")
        await stage.stop()
    }

    @Test(arguments: [
        ("social.hatk.push.registerToken", #""token":"aabb","platform":"apns""#),
        ("social.hatk.push.unregisterToken", #""token":"aabb""#), ("social.hatk.push.removeDevice", #""id":1"#),
        ("dev.hatk.push.registerToken", #""token":"aabb","platform":"apns""#),
    ])
    func aBodyCannotNameAnotherAccount(method: String, input: String) async throws {
        let stage = try PushStage()
        let (ada, bob) = (try stage.account("ada"), try stage.account("bob"))
        #expect(
            try await stage.call("social.hatk.push.registerToken", bob, #"{"token":"aabb","platform":"apns"}"#).status
                == 200)
        let answer = try await stage.call(method, ada, #"{"did":"\#(bob.did)",\#(input)}"#)
        #expect(answer.status == 400)
        #expect(answer.error == "InvalidRequest")
        #expect(try stage.tokens().map(\.did) == [bob.did])
        await stage.stop()
    }
}

extension Account {
    /// A token with these claims and no others.
    fileprivate func sign(claims: String) throws -> String {
        let header = "{\"typ\":\"JWT\",\"alg\":\"\(key.curve.algorithm)\"}"
        return try JSONWebToken(header: [UInt8](header.utf8), claims: [UInt8](claims.utf8), signedBy: key).text
    }
}
