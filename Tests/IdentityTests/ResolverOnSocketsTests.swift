import ATProto
import Foundation
import Net
import Simulators
import Synchronization
import TestSupport
import Testing

@testable import Identity

/// The resolver against a directory and domains on this machine.
@Suite(.fewAtATime) struct ResolverOnSocketsTests {
    /// A time that stands until it is moved.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func pass(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private struct Stage {
        let directory: PLCSimulator
        let resolver: IdentityResolver
        let clock = Clock()
        let people = PLCIdentity.people(of: .shipped)

        init(_ change: (inout IdentityResolver.Options) -> Void = { _ in }) throws {
            directory = try PLCSimulator(
                .init(identities: PLCIdentity.people(of: .shipped) + PLCIdentity.oddities(seed: 1)))
            var options = IdentityResolver.Options()
            options.directory = directory.url
            options.timeout = .seconds(60)
            change(&options)
            resolver = try IdentityResolver(options) { [clock] in clock.now }
        }

        func document(_ person: PLCIdentity) async throws -> DIDDocument {
            try await resolver.document(try DID(person.did))
        }

        func stop() async {
            resolver.stop()
            await directory.stop()
        }
    }

    // MARK: The directory

    @Test func oneFetchServesAllWhoWait() async throws {
        let stage = try Stage()
        let ada = stage.people[0]
        stage.directory.play([.init(.slow(.milliseconds(200)))])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { try #require(try await stage.document(ada).signingKey == ada.key) } }
            try await group.waitForAll()
        }
        #expect(stage.directory.requests() == 1)
        #expect(stage.resolver.counts.fetches == 1)
        #expect(stage.resolver.counts.hits + stage.resolver.counts.misses == 200)
        await stage.stop()
    }

    @Test func documentsAreRememberedForATimeAndALittleLongerInNeed() async throws {
        let stage = try Stage {
            $0.maximumAge = .seconds(100)
            $0.maximumStaleAge = .seconds(1000)
        }
        let ada = stage.people[0]
        for (seconds, requests) in [(0, 1), (99, 1), (1, 2), (99, 2)] {
            stage.clock.pass(.seconds(seconds))
            #expect(try await stage.document(ada).signingKey == ada.key)
            #expect(stage.directory.requests() == requests)
        }
        stage.directory.play([.init(.status(500))])
        stage.clock.pass(.seconds(800))
        #expect(try await stage.document(ada).signingKey == ada.key)
        #expect(stage.resolver.counts.stale == 1)
        stage.clock.pass(.seconds(200))
        await #expect(throws: IdentityError.unreachable("status 500")) { try await stage.document(ada) }
        await stage.stop()
    }

    @Test func absenceIsRememberedForAMoment() async throws {
        let stage = try Stage()
        let nobody = try DID("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa")
        for (seconds, requests) in [(0, 1), (9, 1), (1, 2)] {
            stage.clock.pass(.seconds(seconds))
            await #expect(throws: IdentityError.notFound) { try await stage.resolver.document(nobody) }
            #expect(stage.directory.requests() == requests)
        }
        await stage.stop()
    }

    @Test func freshOnesCanBeHadNowAndThen() async throws {
        let stage = try Stage()
        let did = try DID(stage.people[0].did)
        _ = try await stage.resolver.document(did)
        var fresh = 0
        for _ in 0..<10 where try await stage.resolver.refreshed(did) != nil { fresh += 1 }
        #expect(fresh == 5)
        stage.clock.pass(.seconds(10))
        #expect(try await stage.resolver.refreshed(did) != nil)
        #expect(try await stage.resolver.refreshed(did) == nil)
        await stage.stop()
    }

    @Test func aTarPitKeepsNobodyElseOut() async throws {
        let stage = try Stage {
            $0.maximumDirectoryFetches = 2
            $0.timeout = .seconds(5)
        }
        let (ada, bob, cid) = (stage.people[0], stage.people[1], stage.people[2])
        stage.directory.play([.init(.dead, did: ada.did)])
        let late = Task { try await stage.document(ada) }
        while stage.directory.requests(for: ada.did) == 0 { await Task.yield() }
        #expect(try await stage.document(bob).signingKey == bob.key)
        #expect(try await stage.document(cid).signingKey == cid.key)
        await #expect(throws: IdentityError.timedOut) { try await late.value }
        await stage.stop()
    }

    @Test func noMoreAreFetchedAtATimeThanAllowed() async throws {
        let stage = try Stage {
            $0.maximumDirectoryFetches = 1
            $0.timeout = .seconds(3)
        }
        let ada = stage.people[0]
        stage.directory.play([.init(.dead, did: ada.did)])
        let late = Task { try await stage.document(ada) }
        while stage.directory.requests(for: ada.did) == 0 { await Task.yield() }
        await #expect(throws: IdentityError.busy) { try await stage.document(stage.people[1]) }
        await #expect(throws: IdentityError.timedOut) { try await late.value }
        // The place is free again.
        #expect(try await stage.document(stage.people[1]).did.description == stage.people[1].did)
        await stage.stop()
    }

    @Test func memoryIsBounded() async throws {
        let stage = try Stage { $0.capacity = 5 }
        for person in stage.people.prefix(20) { _ = try await stage.document(person) }
        #expect(stage.resolver.counts.size == 5)
        await stage.stop()
    }

    // MARK: Domains

    /// All the ways to write this machine, or another that is no part of the public internet, into a did:web.
    static let privateDIDs = [
        "did:web:localhost", "did:web:LOCALHOST", "did:web:localhost.", "did:web:127.0.0.1", "did:web:127.1",
        "did:web:2130706433", "did:web:0x7f000001", "did:web:0x7f.0.0.1", "did:web:0177.0.0.1", "did:web:0",
        "did:web:10.0.0.1", "did:web:169.254.169.254", "did:web:192.168.0.1", "did:web:%5B%3A%3A1%5D",
        "did:web:%5B%3A%3Affff%3A127.0.0.1%5D", "did:web:%5B%3A%3Affff%3A7f00%3A1%5D", "did:web:%5Bfe80%3A%3A1%5D",
        "did:web:local%68ost", "did:web:127%2E0%2E0%2E1", "did:web:localhost%3A80", "did:web:127.0.0.1%3A80",
        "did:web:a%40127.0.0.1", "did:web:example.com%2F..%2F", "did:web:example.com%23", "did:web:example.com%3Fa",
        "did:web:example.com:path", "did:web:example.com%3A8443", "did:web:example.com%00",
    ]

    @Test(arguments: privateDIDs) func whatIsNoDomainIsNotEvenAskedFor(text: String) async throws {
        let resolver = try IdentityResolver()
        defer { resolver.stop() }
        guard let did = try? DID(text) else { return }
        do {
            _ = try await resolver.document(did)
            Issue.record("a document came")
        } catch {
            guard case .unsupported = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(resolver.counts.fetches == 0)
    }

    /// A name that is a domain's and leads to this machine: libcurl resolves all of `.localhost` so by itself.
    @Test func aDomainThatLeadsToThisMachineIsRefused() async throws {
        let resolver = try IdentityResolver()
        defer { resolver.stop() }
        await #expect(throws: IdentityError.forbiddenHost("push.localhost")) {
            try await resolver.document(try DID("did:web:push.localhost"))
        }
    }

    @Test(arguments: [
        (["push.localhost"], true), (["other.localhost"], false),
    ]) func aDomainSpeaksTLSInItsOwnName(names: [String], isTrusted: Bool) async throws {
        let domain = try Domain(names)
        defer { domain.stop() }
        var options = IdentityResolver.Options()
        options.allowedHosts = ["push.localhost"]
        options.caFile = domain.caFile
        options.timeout = .seconds(60)
        let resolver = try IdentityResolver(options)
        defer { resolver.stop() }
        let did = try DID("did:web:push.localhost%3A\(domain.port)")
        domain.documents.withLock { $0 = "{\"id\":\"\(did)\"}" }
        do {
            let document = try await resolver.document(did)
            #expect(isTrusted)
            #expect(document.did == did)
            #expect(domain.requests.withLock { $0 } == ["/.well-known/did.json"])
        } catch {
            guard case .unreachable = error, !isTrusted else {
                Issue.record("\(error)")
                return
            }
            #expect(domain.requests.withLock { $0 }.isEmpty)
        }
    }
}

/// A domain on this machine, with TLS under a certificate for some names.
private final class Domain: HTTP2ServerHandler, Sendable {
    let documents = Mutex("")
    let requests = Mutex<[String]>([])
    let caFile: String
    private let folder: ScratchFolder
    private let loop: EventLoop
    private let server = Mutex<HTTP2Server?>(nil)

    init(_ names: [String]) throws {
        let certificate = try SelfSignedCertificate(hosts: names)
        folder = try ScratchFolder()
        caFile = folder.path + "/ca.pem"
        loop = try EventLoop(name: "domain")
        try certificate.caPEM.write(toFile: caFile, atomically: true, encoding: .utf8)
        let tls = try TLSContext.server(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
        let server = try HTTP2Server(
            listen: Endpoint(host: "127.0.0.1", port: 0), tls: tls, on: loop, handler: self)
        self.server.withLock { $0 = server }
    }

    func stop() { loop.stop() }

    var port: UInt16 { server.withLock { $0?.port ?? 0 } }

    func server(_ connection: HTTP2ServerConnection, stream: Int32, headers: [HeaderField], body: [UInt8]) {
        let path = headers.first { $0.name == Array(":path".utf8) }.map { String(decoding: $0.value, as: UTF8.self) }
        requests.withLock { $0.append(path ?? "") }
        connection.respond(stream: stream, status: 200, headers: [], body: documents.withLock { [UInt8]($0.utf8) })
    }
}
