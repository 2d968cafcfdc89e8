import Crypto
import Foundation
import TestSupport
import Testing

@testable import XRPC

/// Whom a service token lets in, over the wire, and how each refusal is named.
@Suite(.fewAtATime) struct ServiceAuthTests {
    private let method = "social.hatk.push.listDevices"

    private func refusal(_ answer: WireAnswer) -> String {
        "\(answer.status) \((answer.json["error"] as? String) ?? "-")"
    }

    @Test(arguments: [Curve.k256, .p256], ["did:web:push.test", "did:web:push.test#hark"])
    func letsInBothCurvesWithOrWithoutAService(curve: Curve, audience: String) async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada", curve)
        #expect(try await stage.call(method, token: ada.token(method, aud: audience)).status == 200)
        #expect(try await stage.call(method, token: ada.token(method, iss: ada.did + "#atproto")).status == 200)
    }

    @Test func refusesWhatIsNotMeantOrNotNow() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let now = Int64(Date().timeIntervalSince1970)
        let cases: [(String, String)] = [
            (try ada.token(method, exp: now - 120), "401 ExpiredToken"),
            (try ada.token(method, exp: now + 3600), "401 InvalidToken"),
            (try ada.token(method, aud: "did:web:other.test"), "401 BadJwtAudience"),
            (try ada.token(method, aud: "did:web:push.test.evil"), "401 BadJwtAudience"),
            (try ada.token(method, aud: nil), "401 BadJwtAudience"),
            (try ada.token("social.hatk.push.removeDevice"), "401 BadJwtLexiconMethod"),
            (try ada.token(nil), "401 BadJwtLexiconMethod"),
            (try ada.token(method, iss: "ada"), "401 InvalidToken"),
            (try ada.token(method, extra: ",\"nbf\":\(now + 600)"), "401 InvalidToken"),
            ("garbage", "401 InvalidToken"),
            ("a.b.c", "401 InvalidToken"),
        ]
        for (token, expected) in cases {
            let answer = try await stage.call(method, token: token)
            #expect(refusal(answer) == expected)
            #expect(answer.headers["www-authenticate"] != nil)
        }
        #expect(refusal(try await stage.call(method)) == "401 AuthMissing")
    }

    @Test func refusesWhatIsNotSignedByTheAccount() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        let bob = try stage.account("bob")
        let other = try Account("ada", .p256)
        let good = try ada.token(method)
        let parts = good.split(separator: ".").map(String.init)
        let none = Base64URL.text("{\"alg\":\"none\",\"typ\":\"JWT\"}")
        let symmetric = Base64URL.text("{\"alg\":\"HS256\",\"typ\":\"JWT\"}")
        let tokens = [
            try ada.token(method, signedBy: bob.key),
            try ada.token(method, signedBy: other.key),
            try ada.token(method, header: "{\"typ\":\"JWT\",\"alg\":\"ES256\"}"),
            try ada.token(method, header: "{\"typ\":\"at+jwt\",\"alg\":\"ES256K\"}"),
            try Account("nobody").token(method),
            "\(none).\(parts[1]).",
            "\(none).\(parts[1]).\(parts[2])",
            "\(symmetric).\(parts[1]).\(parts[2])",
            "\(parts[0]).\(Base64URL.text("{\"iss\":\"\(bob.did)\"}")).\(parts[2])",
        ]
        for token in tokens { #expect(try await stage.call(method, token: token).status == 401) }
        #expect(try await stage.call(method, token: good).status == 200)
    }

    @Test func aTokenIsGoodForOneCall() async throws {
        let stage = try PushStage()
        let token = try stage.account("ada").token(method)
        #expect(try await stage.call(method, token: token).status == 200)
        #expect(refusal(try await stage.call(method, token: token)) == "401 InvalidToken")
        let unnamed = try stage.account("bob").token(method, jti: nil)
        #expect(try await stage.call(method, token: unnamed).status == 200)
        #expect(refusal(try await stage.call(method, token: unnamed)) == "401 InvalidToken")
    }

    @Test func aChangedKeyIsFetchedOnceMore() async throws {
        let stage = try PushStage()
        var ada = try stage.account("ada")
        #expect(try await stage.call(method, ada).status == 200)
        #expect(stage.directory.requests == 1)
        ada = try stage.account("ada")
        #expect(try await stage.call(method, ada).status == 200)
        #expect(stage.directory.requests == 2)
        #expect(try await stage.call(method, ada).status == 200)
        #expect(stage.directory.requests == 2)
    }

    @Test func aBrokenDirectoryCostsOnlyThatRequest() async throws {
        let stage = try PushStage()
        let ada = try stage.account("ada")
        #expect(try await stage.call(method, ada).status == 200)
        stage.directory.fail(status: 500)
        let bob = try stage.account("bob")
        #expect(try await stage.call(method, bob).status == 502)
        #expect(try await stage.call(method, ada).status == 200)
    }
}

private enum Base64URL {
    static func text(_ plain: String) -> String {
        Data(plain.utf8).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
