/// Those who wait for the outbox to be empty, and how long each bears with nothing but trouble. Times in milliseconds
/// since 1970.
struct OutboxWaiters {
    /// Called once: with true when the outbox is empty, with false when it was given up.
    typealias Resume = @Sendable (Bool) -> Void

    private var waiters: [(giveUpAfter: Int64, resume: Resume)] = []
    /// When an answer came last, or somebody began to wait.
    private var lastHeard: Int64 = 0

    var isEmpty: Bool { waiters.isEmpty }

    /// - Parameter giveUpAfter: milliseconds without any answer.
    mutating func add(giveUpAfter: Int64, now: Int64, _ resume: @escaping Resume) {
        waiters.append((giveUpAfter, resume))
        heard(now: now)
    }

    /// Somebody answered, whatever it was.
    mutating func heard(now: Int64) { lastHeard = max(lastHeard, now) }

    /// When the first gives up, should nothing be heard until then.
    var nextEnd: Int64? { waiters.map(\.giveUpAfter).min().map { lastHeard + $0 } }

    /// Takes out those who have waited long enough.
    mutating func takeTired(now: Int64) -> [Resume] {
        let silence = now - lastHeard
        defer { waiters.removeAll { $0.giveUpAfter <= silence } }
        return waiters.filter { $0.giveUpAfter <= silence }.map(\.resume)
    }

    mutating func takeAll() -> [Resume] {
        defer { waiters = [] }
        return waiters.map(\.resume)
    }
}
