import Identity
import Synchronization

/// Counts the requests of each address. Thread-safe, and of bounded size: who was not seen longest is forgotten first.
final class RateLimiter: Sendable {
    private let burst: Int
    private let interval: Duration
    private let buckets: Mutex<BoundedCache<ClientAddress, TokenBucket>>

    /// Nil where there is no limit.
    init?(_ limits: HTTPLimits) {
        guard limits.requestsPerSecond > 0 else { return nil }
        burst = limits.requestBurst
        interval = .seconds(1) / limits.requestsPerSecond
        buckets = Mutex(BoundedCache(capacity: limits.maximumAddresses))
    }

    /// Nil when the request may pass; else the whole seconds to wait.
    func secondsToWait(_ address: ClientAddress, now: ContinuousClock.Instant) -> Int? {
        buckets.withLock { buckets in
            var bucket = buckets[address] ?? TokenBucket(burst: burst, per: interval, at: now)
            let mayPass = bucket.take(at: now)
            buckets.set(address, bucket)
            return mayPass ? nil : Int(max(bucket.wait.components.seconds, 0)) + 1
        }
    }
}
