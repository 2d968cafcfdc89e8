import ATProto
import Net
import Synchronization

/// Finds the documents of DIDs, did:plc in a directory and did:web at the domain, and remembers them. Thread-safe.
///
/// One fetch serves everybody who waits for it. The memory is bounded in size and age; while a directory is down, a
/// document of some age is better than none.
public final class IdentityResolver: Sendable {
    public struct Options: Sendable {
        /// URL of the PLC directory. It may be plain HTTP and on any address, since the operator names it.
        public var directory = "https://plc.directory"
        /// Hosts of did:web (`host` or `host:port`) that may have private addresses and ports: for tests.
        public var allowedHosts: Set<String> = []
        /// Documents remembered; some 500 bytes each.
        public var capacity = 20_000
        /// A document is fetched again when it is older than this.
        public var maximumAge: Duration = .seconds(600)
        /// How old a document may be that stands in for one that cannot be fetched.
        public var maximumStaleAge: Duration = .seconds(3600)
        /// How long a DID that does not exist is remembered as such.
        public var absenceAge: Duration = .seconds(10)
        /// For one fetch, from the look-up of the host to the last byte.
        public var timeout: Duration = .seconds(5)
        /// Fetches from the directory at a time, and from all domains together.
        public var maximumDirectoryFetches = 256
        public var maximumDomainFetches = 64
        /// PEM file of roots to trust instead of the system's: for tests.
        public var caFile: String?
        public var userAgent = "hark"

        public init() {}
    }

    /// Since start, for metrics.
    public struct Counts: Sendable, Hashable {
        /// Answered from memory; by a fetch, own or another's; by a document past its age; not at all.
        public var hits = 0
        public var misses = 0
        public var stale = 0
        public var failures = 0
        /// Requests sent, and documents remembered now.
        public var fetches = 0
        public var size = 0
    }

    private enum Remembered: Sendable {
        case document(DIDDocument)
        case absent
    }

    private struct Entry: Sendable {
        var found: Remembered
        var time: ContinuousClock.Instant
        var refreshes: TokenBucket
    }

    private typealias Fetch = Task<Result<DIDDocument, IdentityError>, Never>

    private struct State {
        var entries: BoundedCache<String, Entry>
        var fetches: [String: Fetch] = [:]
        var directoryFetches = 0
        var domainFetches = 0
        var counts = Counts()
    }

    private let options: Options
    private let client: WebClient
    private let state: Mutex<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: the time by which documents age.
    /// - Throws: when there are no threads left.
    public init(
        _ options: Options = Options(), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws {
        var web = WebClient.Options()
        web.timeout = options.timeout
        web.maximumBody = DIDDocument.maximumSize
        web.maximumRequests = options.maximumDirectoryFetches + options.maximumDomainFetches
        web.userAgent = options.userAgent
        web.caFile = options.caFile
        self.options = options
        self.now = now
        client = try WebClient(web)
        state = Mutex(State(entries: BoundedCache(capacity: options.capacity)))
    }

    /// Fails the fetches that are under way; nothing may be asked afterwards. Blocks for a moment.
    public func stop() { client.stop() }

    public var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.size = state.entries.count
            return counts
        }
    }

    /// The document of `did`, as it is remembered or as it is now.
    public func document(_ did: DID) async throws(IdentityError) -> DIDDocument {
        let time = now()
        let known = state.withLock { state -> Entry? in
            guard let entry = state.entries[did.description] else { return nil }
            let limit = if case .absent = entry.found { options.absenceAge } else { options.maximumAge }
            guard entry.time.duration(to: time) < limit else { return nil }
            state.counts.hits += 1
            return entry
        }
        switch known?.found {
        case .document(let document): return document
        case .absent: throw .notFound
        case nil: return try await fetched(did)
        }
    }

    /// The document as it is now, for whoever finds that the remembered one does not fit: after a rotation of keys.
    /// Nil when the same document was asked for so too often lately.
    public func refreshed(_ did: DID) async throws(IdentityError) -> DIDDocument? {
        let time = now()
        let mayFetch = state.withLock { state in
            guard var entry = state.entries[did.description] else { return true }
            let isAllowed = entry.refreshes.take(at: time)
            state.entries.set(did.description, entry)
            return isAllowed
        }
        return mayFetch ? try await fetched(did) : nil
    }

    // MARK: Fetching

    private func fetched(_ did: DID) async throws(IdentityError) -> DIDDocument {
        let source = try DocumentSource(did, options)
        let fetch = state.withLock { state -> Fetch? in
            state.counts.misses += 1
            if let fetch = state.fetches[did.description] { return fetch }
            guard Self.count(1, source.kind, in: &state, options) else { return nil }
            state.counts.fetches += 1
            let fetch = Fetch { await self.run(did, source) }
            state.fetches[did.description] = fetch
            return fetch
        }
        guard let fetch else { throw .busy }
        return try await fetch.value.get()
    }

    /// Counts a fetch that begins or ends. False when there is no room for one more.
    private static func count(_ change: Int, _ kind: DocumentSource.Kind, in state: inout State, _ options: Options)
        -> Bool
    {
        switch kind {
        case .directory:
            if change > 0, state.directoryFetches >= options.maximumDirectoryFetches { return false }
            state.directoryFetches += change
        case .domain:
            if change > 0, state.domainFetches >= options.maximumDomainFetches { return false }
            state.domainFetches += change
        }
        return true
    }

    private func run(_ did: DID, _ source: DocumentSource) async -> Result<DIDDocument, IdentityError> {
        let result = await ask(source, for: did)
        let time = now()
        return state.withLock { state in
            state.fetches[did.description] = nil
            _ = Self.count(-1, source.kind, in: &state, options)
            let known = state.entries[did.description]
            let refreshes = known?.refreshes ?? TokenBucket(burst: 5, per: .seconds(10), at: time)
            switch result {
            case .success(let document):
                let entry = Entry(found: .document(document), time: time, refreshes: refreshes)
                state.entries.set(did.description, entry)
            case .failure(.notFound):
                state.entries.set(did.description, Entry(found: .absent, time: time, refreshes: refreshes))
                state.counts.failures += 1
            case .failure:
                if let known, case .document(let document) = known.found,
                    known.time.duration(to: time) < options.maximumStaleAge
                {
                    state.counts.stale += 1
                    return .success(document)
                }
                state.counts.failures += 1
            }
            return result
        }
    }

    private func ask(_ source: DocumentSource, for did: DID) async -> Result<DIDDocument, IdentityError> {
        let accept = "application/did+ld+json, application/json"
        do throws(WebError) {
            let answer = try await client.get(source.url, accept: accept, policy: source.policy)
            return Self.document(answer, did)
        } catch {
            return .failure(Self.error(error, source))
        }
    }

    private static func document(_ answer: WebAnswer, _ did: DID) -> Result<DIDDocument, IdentityError> {
        switch answer.status {
        case 200:
            do throws(DecodingFailure) {
                return .success(try DIDDocument(json: answer.body, did: did))
            } catch { return .failure(.malformed("\(error)")) }
        // The directory answers 410 for a DID that was given up.
        case 404, 410: return .failure(.notFound)
        default: return .failure(.unreachable("status \(answer.status)"))
        }
    }

    private static func error(_ error: WebError, _ source: DocumentSource) -> IdentityError {
        switch error {
        case .forbiddenAddress: .forbiddenHost(source.host)
        case .timedOut: .timedOut
        case .busy: .busy
        case .tooLarge: .malformed("longer than \(DIDDocument.maximumSize) bytes")
        case .badURL, .failed, .stopped: .unreachable("\(error)")
        }
    }
}
