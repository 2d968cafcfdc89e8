import Net
import TestSupport
import Testing

@testable import Simulators

/// What becomes of provider tokens, over real TLS and HTTP/2.
@Suite(.fewAtATime) struct APNsSimulatorProviderTokenTests {
    let provider: TestProvider
    let good: TestPush
    let simulator: APNsSimulator

    init() throws {
        provider = try TestProvider()
        good = try TestPush(provider)
        simulator = try startSimulator(provider: provider)
    }

    private func outcome(of jwt: String) async throws -> Outcome {
        try await APNsSimulatorClient(simulator).outcome(of: good.with("authorization", "bearer \(jwt)"))
    }

    @Test(arguments: [
        #"{"alg":"none","kid":"KEY"}"#, #"{"alg":"HS256","kid":"KEY"}"#, #"{"alg":"es256","kid":"KEY"}"#,
        #"{"kid":"KEY"}"#, #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":1}"#, #"{"alg":"ES256","kid":"OTHER"}"#,
        #"{"alg":"ES256","alg":"ES256","kid":"KEY"}"#, "[]", "no JSON",
    ])
    func refusesHeader(_ header: String) async throws {
        let header = header.replacing("KEY", with: provider.credentials.keyID)
        #expect(try await outcome(of: provider.sign(header: header)) == Outcome(.invalidProviderToken))
    }

    @Test(arguments: [
        #"{"iat":NOW}"#, #"{"iss":"TEAM"}"#, #"{"iss":"TEAM","iat":"NOW"}"#, #"{"iss":"TEAM","iat":NOW.5}"#,
        #"{"iss":"TEAM","iat":1e9}"#, #"{"iss":"TEAM","iat":null}"#, #"{"iss":"OTHER","iat":NOW}"#,
        #"{"iss":["TEAM"],"iat":NOW}"#, "{}", "[]", #"{"iss":"TEAM","iat":NOW"#,
    ])
    func refusesClaims(_ claims: String) async throws {
        let now = String(APNsGateway.nowMilliseconds / 1000)
        let claims = claims.replacing("TEAM", with: provider.credentials.teamID).replacing("NOW", with: now)
        #expect(try await outcome(of: provider.sign(claims: claims)) == Outcome(.invalidProviderToken))
    }

    @Test func refusesSignatures() async throws {
        let stranger = try TestProvider()
        let forged = try provider.sign(key: stranger.credentials.keyPEM)
        #expect(try await outcome(of: forged) == Outcome(.invalidProviderToken))
        let parts = provider.jwt.split(separator: ".").map(String.init)
        let other = try provider.sign(issuedSecondsAgo: 1000).split(separator: ".").map(String.init)
        #expect(try await outcome(of: "\(parts[0]).\(other[1]).\(parts[2])") == Outcome(.invalidProviderToken))
        #expect(try await outcome(of: "\(parts[0]).\(parts[1]).") == Outcome(.invalidProviderToken))
        #expect(try await outcome(of: "\(provider.jwt)=") == Outcome(.invalidProviderToken))
        #expect(try await outcome(of: stranger.jwt) == Outcome(.invalidProviderToken))
    }

    @Test func refusesAges() async throws {
        for age: Int64 in [3602, 1_000_000, -60, -1_000_000] {
            let jwt = try provider.sign(issuedSecondsAgo: age)
            #expect(try await outcome(of: jwt) == Outcome(.expiredProviderToken), "\(age)")
        }
        for iat in [Int64.min, Int64.max] {
            let jwt = try provider.sign(claims: #"{"iss":"\#(provider.credentials.teamID)","iat":\#(iat)}"#)
            #expect(try await outcome(of: jwt) == Outcome(.expiredProviderToken))
        }
        #expect(try await outcome(of: provider.sign(issuedSecondsAgo: 3500)) == Outcome(200))
    }

    @Test func takesTheSchemeInAnyCase() async throws {
        let push = good.with("authorization", "Bearer \(provider.jwt)")
        #expect(try await APNsSimulatorClient(simulator).outcome(of: push) == Outcome(200))
    }

    @Test func refusesQuickUpdates() async throws {
        let client = try APNsSimulatorClient(simulator)
        let next = good.with("authorization", "bearer \(try provider.sign(issuedSecondsAgo: 1))")
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(await client.outcome(of: next) == Outcome(.tooManyProviderTokenUpdates))
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(try await APNsSimulatorClient(simulator).outcome(of: next) == Outcome(200))
    }

    /// Pure, since it takes 20 minutes.
    @Test func allowsUpdatesInTime() throws {
        let key = try #require(try? APNsSimulator.provider(provider.credentials))
        var check = ProviderTokenCheck(providers: [key], isStrict: true)
        let now = APNsGateway.nowMilliseconds
        let (first, second) = (
            Array("bearer \(provider.jwt)".utf8), Array("bearer \(try provider.sign(issuedSecondsAgo: 1))".utf8)
        )
        _ = try check.provider(for: first, nowMilliseconds: now)
        #expect(throws: Refusal.self) {
            _ = try check.provider(for: second, nowMilliseconds: now + 20 * 60_000 - 1)
        }
        #expect(!check.hasSucceeded)
        _ = try check.provider(for: second, nowMilliseconds: now + 20 * 60_000)
        #expect(check.hasSucceeded)
    }

    @Test func bindsAConnectionToItsFirstKey() async throws {
        let other = try TestProvider(bundleID: "com.example.other")
        let simulator = try startSimulator(provider: provider) { $0.providers.append(other.credentials) }
        let client = try APNsSimulatorClient(simulator)
        #expect(await client.outcome(of: good) == Outcome(200))
        #expect(try await client.outcome(of: TestPush(other)) == Outcome(.unrelatedKeyIDInToken))
        #expect(try await APNsSimulatorClient(simulator).outcome(of: TestPush(other)) == Outcome(200))
        let foreign = try TestPush(other).with("apns-topic", "com.example.app")
        #expect(try await APNsSimulatorClient(simulator).outcome(of: foreign) == Outcome(.topicDisallowed))
    }

    @Test func fallsBackToOneStreamAfterAnExpiredToken() async throws {
        let client = try APNsSimulatorClient(simulator)
        let old = good.with("authorization", "bearer \(try provider.sign(issuedSecondsAgo: 4000))")
        for push in [good, good] { #expect(await client.outcome(of: push) == Outcome(200)) }
        #expect(await client.room() == 1000)
        #expect(await client.outcome(of: old) == Outcome(.expiredProviderToken))
        #expect(await client.outcome(of: old) == Outcome(.expiredProviderToken))
        #expect(await client.room() == 1)
        for push in [good, good] { #expect(await client.outcome(of: push) == Outcome(200)) }
        #expect(await client.room() == 1000)
    }
}
