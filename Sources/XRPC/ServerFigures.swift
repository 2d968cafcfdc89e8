import Identity
import Synchronization

/// The server's own figures. Labels are methods and statuses, never a DID or a token.
final class ServerFigures: Sendable {
    /// Weak, since the server's own pages show these figures.
    private struct Watched: Sendable { weak var server: HTTPServer? }

    private let watched = Mutex(Watched())
    private let meter: XRPCMeter
    private let resolver: IdentityResolver
    private let auth: ServiceAuth

    init(meter: XRPCMeter, resolver: IdentityResolver, auth: ServiceAuth) {
        self.meter = meter
        self.resolver = resolver
        self.auth = auth
    }

    func watch(_ server: HTTPServer) { watched.withLock { $0.server = server } }

    func add(to metrics: inout MetricsText) {
        metrics.counter(
            "hark_xrpc_requests_total", "Answers by method and status.",
            meter.snapshot.map { .init($0.count, ["method": $0.key.method, "status": "\($0.key.status)"]) })
        let connections = watched.withLock { $0.server }?.connectionCount ?? 0
        metrics.gauge("hark_http_connections", "Open connections of clients.", connections)
        metrics.gauge("hark_auth_used_tokens", "Service tokens remembered until they expire.", auth.usedTokens)
        let counts = resolver.counts
        metrics.gauge("hark_did_cache_size", "DID documents remembered.", counts.size)
        metrics.counter(
            "hark_did_lookups_total", "DID documents asked for, by where they came from.",
            [
                .init(counts.hits, ["result": "hit"]), .init(counts.misses, ["result": "miss"]),
                .init(counts.stale, ["result": "stale"]), .init(counts.failures, ["result": "failure"]),
            ])
        metrics.counter("hark_did_fetches_total", "Requests for DID documents.", counts.fetches)
    }
}
