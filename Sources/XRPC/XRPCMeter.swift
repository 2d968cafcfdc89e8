import Synchronization

/// Counts answers by method and status. Thread-safe.
final class XRPCMeter: Sendable {
    /// Of methods that are known, and `other`: strangers must not make new series.
    struct Key: Hashable, Sendable {
        var method: String
        var status: Int
    }

    private let counts = Mutex<[Key: Int]>([:])

    func count(_ method: String, _ status: Int) {
        counts.withLock { $0[Key(method: method, status: status), default: 0] += 1 }
    }

    /// In a stable order.
    var snapshot: [(key: Key, count: Int)] {
        counts.withLock { $0.map { (key: $0.key, count: $0.value) } }
            .sorted { ($0.key.method, $0.key.status) < ($1.key.method, $1.key.status) }
    }
}
