import TestSupport
import Testing

@testable import Net

@Suite(.fewAtATime) struct EventLoopTests {
    @Test func runsJobsInOrder() async throws {
        let loop = try EventLoop(name: "a name that is longer than Linux keeps")
        let seen = Events<Int>()
        for number in 0..<1000 { loop.execute { seen.add(number) } }
        for number in 0..<1000 { #expect(await seen.next() == number) }
        loop.stop()
    }

    @Test func knowsItsOwnThread() async throws {
        let loop = try EventLoop(name: "loop")
        let seen = Events<Bool>()
        #expect(!loop.isCurrent)
        loop.execute { seen.add(loop.isCurrent) }
        #expect(await seen.next())
    }

    @Test func firesTimersByTheirTime() async throws {
        let loop = try EventLoop(name: "loop")
        let seen = Events<Int>()
        for delay in [30, 10, 20, 0] { loop.schedule(after: .milliseconds(delay)) { seen.add(delay) } }
        for delay in [0, 10, 20, 30] { #expect(await seen.next() == delay) }
    }

    @Test func forgetsCancelledTimers() async throws {
        let loop = try EventLoop(name: "loop")
        let seen = Events<Int>()
        // On its own thread, where none fires before it is cancelled.
        loop.execute {
            for number in 0..<500 {
                loop.schedule(after: .milliseconds(5)) { seen.add(number) }.cancel()
            }
            loop.schedule(after: .milliseconds(10)) { seen.add(-1) }
            loop.schedule(after: .seconds(1_000_000_000_000)) { seen.add(-2) }
        }
        #expect(await seen.next() == -1)
    }

    @Test func dropsJobsOnceStopped() async throws {
        let loop = try EventLoop(name: "loop")
        let seen = Events<Int>()
        loop.execute {
            loop.stop()
            seen.add(1)
        }
        #expect(await seen.next() == 1)
        loop.execute { seen.add(2) }
        loop.stop()
        loop.stop()
        seen.add(3)
        #expect(await seen.next() == 3)
    }

    @Test func endsWithItsLastReference() async throws {
        weak var worker: LoopWorker?
        do {
            let loop = try EventLoop(name: "loop")
            worker = loop.worker
            loop.execute {}
        }
        #expect(worker == nil)
    }

    @Test func keepsTimersInOrder() {
        var heap = TimerHeap()
        var timers: [EventLoop.Timer] = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let timer = EventLoop.Timer({}, deadline: MonotonicTime(nanoseconds: .random(in: 0..<1000, using: &random)))
            heap.insert(timer)
            if Bool.random(using: &random) { timer.cancel() } else { timers.append(timer) }
        }
        var deadlines: [MonotonicTime] = []
        while let timer = heap.popDue(MonotonicTime(nanoseconds: 1000)) { deadlines.append(timer.deadline) }
        #expect(deadlines == timers.map(\.deadline).sorted())
    }
}
