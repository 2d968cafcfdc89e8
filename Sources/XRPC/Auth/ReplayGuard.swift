import Crypto
import Synchronization

/// Remembers the tokens that have been used until they expire, so that each is good once. Thread-safe.
///
/// Two sets, each for tokens that expire within one span of time: when a span is over its set is dropped whole. Bounded:
/// a full guard takes no further token, since forgetting one would let it in again.
final class ReplayGuard: Sendable {
    /// A token's use.
    struct Use: Sendable {
        /// 128 bits of a hash.
        let digest: UInt128
        /// Seconds since 1970.
        let expiresAt: Int64

        init(_ identity: String, expiresAt: Int64) {
            let hash = SHA256.hash([UInt8](identity.utf8))
            digest = hash.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
            self.expiresAt = expiresAt
        }
    }

    enum Outcome: Sendable { case fresh, used, full }

    private struct State {
        /// By span: the number of `spanSeconds` since 1970 in which the tokens expire.
        var spans: [Int64: Set<UInt128>] = [:]
        var count = 0
    }

    private let capacity: Int
    private let skew: Int64
    private let state = Mutex(State())
    private static let spanSeconds: Int64 = 60

    /// - Parameters:
    ///   - capacity: tokens remembered, some 32 bytes each.
    ///   - skew: how long after its expiry a token is still good, in seconds.
    init(capacity: Int, skew: Int64) {
        self.capacity = capacity
        self.skew = skew
    }

    var count: Int { state.withLock { $0.count } }

    /// Records a use, if it is the first.
    func claim(_ use: Use, now: Int64) -> Outcome {
        state.withLock { state in
            let oldest = (now - skew) / Self.spanSeconds
            for span in state.spans.keys where span < oldest {
                state.count -= state.spans.removeValue(forKey: span)?.count ?? 0
            }
            let span = use.expiresAt / Self.spanSeconds
            if state.spans[span]?.contains(use.digest) == true { return .used }
            guard state.count < capacity else { return .full }
            state.spans[span, default: []].insert(use.digest)
            state.count += 1
            return .fresh
        }
    }
}
