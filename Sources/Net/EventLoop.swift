import Glibc
import Synchronization

/// One thread that waits on sockets and timers, and runs what it is handed.
///
/// Everything documented as confined to a loop is called on that loop's thread alone. The thread ends with `stop()`,
/// or when the last reference to the loop goes; connections and servers keep their loop until they are closed.
public final class EventLoop: Sendable {
    let worker: LoopWorker
    /// Nil once joined. Whoever stops a loop that another thread is stopping waits here for the same end.
    private let thread: Mutex<pthread_t?>

    /// Starts the thread. `name` shows in `top` and debuggers, cut to 15 bytes.
    ///
    /// Throws `SystemError` when the process has no descriptors or threads left.
    public init(name: String) throws {
        let worker = try LoopWorker()
        self.worker = worker
        thread = Mutex(try OSThread.start(name: name) { worker.run() })
    }

    deinit { stop() }

    /// Runs `job` on the loop's thread, after the jobs handed in before it. Any thread.
    ///
    /// Dropped without being run once the loop has stopped.
    public func execute(_ job: @escaping @Sendable () -> Void) { worker.post(job) }

    /// Runs `job` on the loop's thread after `delay`. Any thread.
    @discardableResult
    public func schedule(after delay: Duration, _ job: @escaping @Sendable () -> Void) -> Timer {
        let timer = Timer(job, deadline: MonotonicTime.now + delay.nanoseconds)
        if isCurrent {
            worker.add(timer)
        } else {
            let worker = worker
            worker.post { worker.add(timer) }
        }
        return timer
    }

    /// Monotonic time.
    public var now: ContinuousClock.Instant { ContinuousClock.now }

    /// True on the loop's own thread.
    public var isCurrent: Bool { worker.isCurrent }

    /// Ends the thread once the present job is done; returns when it has ended. Any thread.
    ///
    /// Connections and servers that still live on the loop are closed with an error first. Called on the loop's own
    /// thread it returns at once, and the thread ends after the present job.
    public func stop() {
        worker.requestStop()
        if isCurrent {
            // A thread cannot wait for itself.
            return thread.withLock { handle in
                if let thread = handle { pthread_detach(thread) }
                handle = nil
            }
        }
        thread.withLock { handle in
            if let thread = handle { pthread_join(thread, nil) }
            handle = nil
        }
    }

    /// A job that waits for its time.
    public final class Timer: Sendable {
        let deadline: MonotonicTime
        private let job: Mutex<(@Sendable () -> Void)?>

        init(_ job: @escaping @Sendable () -> Void, deadline: MonotonicTime) {
            self.deadline = deadline
            self.job = Mutex(job)
        }

        /// Lets go of the job, which will not run any more. Any thread; does nothing once the job has begun.
        public func cancel() { _ = take() }

        var isCancelled: Bool { job.withLock { $0 == nil } }

        /// The job, for the one who gets here first.
        func take() -> (@Sendable () -> Void)? {
            job.withLock { job in
                defer { job = nil }
                return job
            }
        }
    }
}
