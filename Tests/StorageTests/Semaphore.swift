import Dispatch

/// A `DispatchSemaphore` for one waiter, not to be confused with tasks' own waiting: it blocks the writer's thread.
struct Semaphore: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { semaphore.wait() }
    func signal() { semaphore.signal() }
}
