import Identity
import Synchronization

/// The server's own figures in Prometheus' text format. Labels are methods and statuses, never a DID or a token.
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

    var text: String {
        var text =
            "# HELP hark_xrpc_requests_total Answers by method and status.\n# TYPE hark_xrpc_requests_total counter\n"
        for (key, count) in meter.snapshot {
            text += "hark_xrpc_requests_total{method=\"\(key.method)\",status=\"\(key.status)\"} \(count)\n"
        }
        let connections = watched.withLock { $0.server }?.connectionCount ?? 0
        text += Self.gauge("hark_http_connections", "Open connections.", connections)
        text += Self.gauge("hark_auth_used_tokens", "Service tokens remembered until they expire.", auth.usedTokens)
        let counts = resolver.counts
        text += Self.gauge("hark_did_cache_size", "DID documents remembered.", counts.size)
        text += "# HELP hark_did_lookups_total DID documents asked for, by where they came from.\n"
        text += "# TYPE hark_did_lookups_total counter\n"
        for (result, count) in [
            ("hit", counts.hits), ("miss", counts.misses), ("stale", counts.stale), ("failure", counts.failures),
        ] {
            text += "hark_did_lookups_total{result=\"\(result)\"} \(count)\n"
        }
        text += "# HELP hark_did_fetches_total Requests for DID documents.\n# TYPE hark_did_fetches_total counter\n"
        return text + "hark_did_fetches_total \(counts.fetches)\n"
    }

    private static func gauge(_ name: String, _ help: String, _ value: Int) -> String {
        "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \(value)\n"
    }
}
