import Crypto
import FoundationEssentials
import Testing

@testable import Push

struct ProviderTokenTests {
    private let key: PrivateKey
    private static let start: Int64 = 1_800_000_000_123
    private static let minute: Int64 = 60_000

    init() throws { key = try PrivateKey.generate(.p256) }

    private func token() throws -> ProviderToken {
        try ProviderToken(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", now: Self.start)
    }

    private func parse(_ token: ProviderToken) throws -> JSONWebToken {
        let text = String(decoding: token.authorization, as: UTF8.self)
        #expect(text.hasPrefix("bearer "))
        return try JSONWebToken(String(text.dropFirst(7)))
    }

    @Test func isSignedAsAppleWantsIt() throws {
        let web = try parse(token())
        #expect(String(decoding: web.header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: web.claims, as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1800000000}"#)
        #expect(web.signature.count == 64)
        #expect(web.isSigned(by: key.publicKey))
    }

    @Test func isRenewedAtFiftyMinutes() throws {
        var token = try token()
        let first = token.authorization
        token.keepFresh(now: Self.start + 50 * Self.minute - 1)
        #expect(token.authorization == first)
        token.keepFresh(now: Self.start + 50 * Self.minute)
        #expect(token.generation == 2)
        #expect(String(decoding: try parse(token).claims, as: UTF8.self).contains("1800003000"))
        token.keepFresh(now: Self.start + 99 * Self.minute)
        #expect(token.generation == 2)
    }

    @Test func isRenewedWhenTheClockWasSetBack() throws {
        var token = try token()
        token.keepFresh(now: Self.start - 59_000)
        #expect(token.generation == 1)
        token.keepFresh(now: Self.start - 3_600_000)
        #expect(token.generation == 2)
    }

    @Test func isRefreshedOnceForAllThatWait() throws {
        var token = try token()
        let late = Self.start + 30 * Self.minute
        let isThere = token.refresh(stale: 1, now: late)
        #expect(isThere)
        let second = token.authorization
        let others = (0..<1000).map { _ in token.refresh(stale: 1, now: late) }
        #expect(others.allSatisfy { $0 })
        #expect(token.generation == 2)
        #expect(token.authorization == second)
    }

    @Test func isRenewedOnceInTwentyMinutesAtMost() throws {
        var token = try token()
        let answers = [(1, Int64(1)), (2, 2), (2, 20), (2, 21), (3, 22), (3, 40), (3, 41)].map { stale, minutes in
            token.refresh(stale: stale, now: Self.start + minutes * Self.minute)
        }
        #expect(answers == [true, false, false, true, false, false, true])
        #expect(token.generation == 4)
    }

    @Test func isNotRefreshedSoonAfterItsRenewal() throws {
        var token = try token()
        token.keepFresh(now: Self.start + 50 * Self.minute)
        let answers = [(1, Int64(51)), (2, 51), (2, 69), (2, 70)].map { stale, minutes in
            token.refresh(stale: stale, now: Self.start + minutes * Self.minute)
        }
        #expect(answers == [true, false, false, true])
        #expect(token.generation == 3)
    }

    @Test func isNeverPrinted() throws {
        let token = try token()
        var dumped = ""
        dump(token, to: &dumped)
        let secret = String(decoding: token.authorization, as: UTF8.self).suffix(40)
        for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains(secret)) }
        let configuration = APNsConfiguration(keyPEM: "SECRET", keyID: "K", teamID: "T", bundleID: "b")
        dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("SECRET"))
        }
    }
}
