#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A queue from many threads to one that sleeps while it is empty.
final class Inbox<Element>: @unchecked Sendable {
    // The mutex guards the variables; both C objects need an address of their own.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var elements: [Element] = []
    private var isClosed = false
    private var isAsleep = false

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// False when the inbox is closed.
    func put(_ element: Element) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !isClosed else { return false }
        elements.append(element)
        if isAsleep { pthread_cond_signal(condition) }
        return true
    }

    /// Takes no more elements; what is in it can still be taken.
    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits for elements and takes all of them; empty when none came in `patience` milliseconds (nil: for ever);
    /// nil when the inbox is closed and empty.
    func take(patience: Int64? = nil) -> [Element]? {
        let deadline = patience.map { Self.time(after: $0) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        isAsleep = true
        defer { isAsleep = false }
        while elements.isEmpty {
            if isClosed { return nil }
            if var deadline {
                if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { break }
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
        var taken: [Element] = []
        swap(&taken, &elements)
        return taken
    }

    private static func time(after milliseconds: Int64) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = Int64(time.tv_nsec) + milliseconds % 1000 * 1_000_000
        time.tv_sec += Int(milliseconds / 1000 + nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(nanoseconds % 1_000_000_000)
        return time
    }
}
