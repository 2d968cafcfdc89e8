import CLinux
import Glibc
import Synchronization

/// What a descriptor is ready for. Errors and hang-ups count as readable: the read then tells what happened.
struct Readiness: OptionSet {
    let rawValue: UInt32
    static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
}

/// The owner of a watched descriptor. Called on the loop.
protocol SocketHandler: AnyObject {
    func ready(_ readiness: Readiness)
}

/// What lives on a loop, and is kept alive by it, until it leaves. Called on the loop.
protocol LoopResident: AnyObject {
    /// The turn in which `LoopWorker.needsTurnEnd` was called is over: gather, write, hand out results.
    func turnEnds()
    /// The loop is about to end; nothing will be called any more.
    func loopStops()
}

/// The loop's thread: its inbox, its timers and its descriptors.
///
/// Sendable because other threads reach only the locked inbox, the atomics and the eventfd; all the rest is touched by
/// the worker's own thread alone (the confined methods check that in debug builds).
final class LoopWorker: @unchecked Sendable {
    private struct Inbox {
        var jobs: [@Sendable () -> Void] = []
        var isWoken = false
        /// Takes no more jobs: the thread has ended.
        var isClosed = false
    }

    private struct Watch {
        var handler: (any SocketHandler)?
        /// Tells this registration from earlier ones of the same descriptor number.
        var generation: UInt32 = 0
    }

    private let inbox = Mutex(Inbox())
    private let isStopping = Atomic<Bool>(false)
    /// The thread's handle, or 0 before it runs.
    private let thread = Atomic<UInt>(0)
    private let epoll: Int32
    private let waker: Int32

    /// When the present turn's waiting ended: what it does for many has one time.
    private(set) var turnBegan = MonotonicTime.now
    private var timers = TimerHeap()
    private var watches: [Watch] = []
    private var residents: [ObjectIdentifier: any LoopResident] = [:]
    private var ending: [any LoopResident] = []

    /// Room for one read of a socket, and for what TLS makes of it; lent to whoever is reading.
    let cipherScratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)
    let plainScratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)

    init() throws {
        epoll = try SystemError.check("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
        do {
            waker = try SystemError.check("eventfd") { eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)) }
        } catch {
            Glibc.close(epoll)
            throw error
        }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(UInt32(waker))))
        epoll_ctl(epoll, EPOLL_CTL_ADD, waker, &event)
    }

    deinit {
        Glibc.close(waker)
        Glibc.close(epoll)
        cipherScratch.deallocate()
        plainScratch.deallocate()
    }

    // MARK: Any thread

    var isCurrent: Bool { thread.load(ordering: .acquiring) == UInt(pthread_self()) }

    func post(_ job: @escaping @Sendable () -> Void) {
        let mustWake = inbox.withLock { inbox in
            if inbox.isClosed { return false }
            inbox.jobs.append(job)
            defer { inbox.isWoken = true }
            return !inbox.isWoken
        }
        if mustWake { wake() }
    }

    func requestStop() {
        isStopping.store(true, ordering: .releasing)
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        while write(waker, &one, 8) < 0, errno == EINTR {}
    }

    // MARK: The worker's thread

    func add(_ timer: EventLoop.Timer) {
        assert(isCurrent)
        timers.insert(timer)
    }

    /// Keeps `resident` alive until `leave`.
    func enter(_ resident: any LoopResident) {
        assert(isCurrent)
        residents[ObjectIdentifier(resident)] = resident
    }

    func leave(_ resident: any LoopResident) {
        assert(isCurrent)
        residents[ObjectIdentifier(resident)] = nil
    }

    /// Calls `resident.turnEnds()` once this turn's reading, jobs and timers are done.
    func needsTurnEnd(_ resident: any LoopResident) {
        assert(isCurrent)
        ending.append(resident)
    }

    func watch(_ descriptor: Int32, for readiness: Readiness, _ handler: any SocketHandler) throws {
        assert(isCurrent)
        let index = Int(descriptor)
        while watches.count <= index { watches.append(Watch()) }
        watches[index].generation &+= 1
        watches[index].handler = handler
        try control(EPOLL_CTL_ADD, descriptor, readiness)
    }

    func rewatch(_ descriptor: Int32, for readiness: Readiness) throws {
        assert(isCurrent)
        try control(EPOLL_CTL_MOD, descriptor, readiness)
    }

    /// To be called before the descriptor is closed.
    func unwatch(_ descriptor: Int32) {
        assert(isCurrent)
        watches[Int(descriptor)].handler = nil
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ readiness: Readiness) throws {
        let tag = UInt64(watches[Int(descriptor)].generation) << 32 | UInt64(UInt32(descriptor))
        var event = epoll_event(events: readiness.rawValue, data: epoll_data_t(u64: tag))
        try SystemError.check("epoll_ctl") { epoll_ctl(epoll, operation, descriptor, &event) }
    }

    func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: 256)
        defer { events.deallocate() }
        var jobs: [@Sendable () -> Void] = []
        while !isStopping.load(ordering: .acquiring) {
            let count = epoll_wait(epoll, events, 256, waitMilliseconds)
            turnBegan = .now
            for index in 0..<max(0, Int(count)) {
                dispatch(events[index])
            }
            takeJobs(&jobs)
            for job in jobs where !isStopping.load(ordering: .acquiring) { job() }
            jobs.removeAll(keepingCapacity: true)
            runTimers()
            endTurn()
        }
        windUp()
    }

    private var waitMilliseconds: Int32 {
        if !ending.isEmpty { return 0 }
        guard let deadline = timers.nextDeadline else { return -1 }
        let nanoseconds = deadline - MonotonicTime.now
        return Int32(clamping: max(0, (nanoseconds + 999_999) / 1_000_000))
    }

    private func dispatch(_ event: epoll_event) {
        let descriptor = Int32(truncatingIfNeeded: event.data.u64 & 0xFFFF_FFFF)
        if descriptor == waker {
            var count: UInt64 = 0
            _ = read(waker, &count, 8)
            return
        }
        let watch = watches[Int(descriptor)]
        // An event of this batch may be for a descriptor that was closed, and even reused, by an earlier one.
        guard watch.generation == UInt32(event.data.u64 >> 32), let handler = watch.handler else { return }
        var readiness = Readiness(rawValue: event.events).intersection([.readable, .writable])
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness.insert(.readable) }
        handler.ready(readiness)
    }

    private func takeJobs(_ jobs: inout [@Sendable () -> Void]) {
        inbox.withLock { inbox in
            swap(&inbox.jobs, &jobs)
            inbox.isWoken = false
        }
    }

    private func runTimers() {
        guard let first = timers.nextDeadline else { return }
        let now = MonotonicTime.now
        guard first <= now else { return }
        while let timer = timers.popDue(now), !isStopping.load(ordering: .acquiring) {
            timer.take()?()
        }
    }

    /// Residents often make work for each other, or for themselves, here: a few rounds, the rest in the next turn.
    private func endTurn() {
        for _ in 0..<8 where !ending.isEmpty {
            let round = ending
            ending.removeAll(keepingCapacity: true)
            for resident in round { resident.turnEnds() }
        }
    }

    private func windUp() {
        for resident in residents.values { resident.loopStops() }
        residents.removeAll()
        ending.removeAll()
        watches.removeAll()
        timers = TimerHeap()
        var jobs: [@Sendable () -> Void] = []
        inbox.withLock { inbox in
            inbox.isClosed = true
            swap(&inbox.jobs, &jobs)
        }
        // Left undone, and let go of outside the lock, since that may run code of theirs.
        jobs.removeAll()
        thread.store(0, ordering: .releasing)
    }
}
