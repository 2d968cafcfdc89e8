import ATProto
import Testing

@testable import Identity

@Suite struct IdentityResolverTests {
    /// The name leads to this machine, which strangers' domains must not.
    @Test func localAddressesAreRefused() async throws {
        let resolver = try IdentityResolver()
        defer { resolver.stop() }
        // A trailing dot or another spelling must not help either; all of them are refused before anything is sent.
        for name in ["localhost", "127.0.0.1", "10.0.0.1", "169.254.169.254"] {
            await #expect(throws: IdentityError.self) { try await resolver.document(try DID("did:web:\(name)")) }
        }
        #expect(resolver.counts.fetches == 0)
    }

    @Test func aDirectoryThatIsNotThereIsUnreachable() async throws {
        var options = IdentityResolver.Options()
        options.directory = "http://127.0.0.1:1"
        let resolver = try IdentityResolver(options)
        defer { resolver.stop() }
        let did = try DID("did:plc:ewvi7nxzyoun6zhxrhs64oiz")
        do {
            _ = try await resolver.document(did)
            Issue.record("a document came from nowhere")
        } catch {
            guard case .unreachable = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(resolver.counts.failures == 1)
        #expect(resolver.counts.size == 0)
    }
}

@Suite struct BoundedCacheTests {
    @Test func forgetsWhatWasNotAskedForLongest() {
        var cache = BoundedCache<Int, String>(capacity: 3)
        func look(_ key: Int, _ expected: String?) {
            let found = cache[key]
            #expect(found == expected)
        }
        for key in 1...3 { cache.set(key, "\(key)") }
        look(1, "1")
        cache.set(4, "4")
        look(2, nil)
        #expect(cache.count == 3)
        cache.set(3, "three")
        cache.set(5, "5")
        look(1, nil)
        look(3, "three")
        look(4, "4")
        look(5, "5")
    }

    @Test func aBucketFillsInTime() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(burst: 2, per: .seconds(10), at: start)
        let seconds = [0, 0, 9, 11, 12]
        let taken = seconds.map { bucket.take(at: start + .seconds($0)) }
        #expect(taken == [true, true, false, true, false])
    }
}
