/// Timers in order of their deadlines: a binary heap that forgets cancelled timers as it meets them.
///
/// Confined to its loop.
struct TimerHeap {
    private var heap: [EventLoop.Timer] = []
    /// The size at which cancelled timers are swept out.
    private var sweepAt = 64

    /// The deadline of the first timer that still waits.
    var nextDeadline: MonotonicTime? {
        mutating get {
            while let first = heap.first {
                if !first.isCancelled { return first.deadline }
                removeFirst()
            }
            return nil
        }
    }

    mutating func insert(_ timer: EventLoop.Timer) {
        if heap.count >= sweepAt { sweep() }
        heap.append(timer)
        siftUp(heap.count - 1)
    }

    /// Takes out the first timer whose deadline is not after `now`.
    mutating func popDue(_ now: MonotonicTime) -> EventLoop.Timer? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        let first = heap[0]
        removeFirst()
        return first
    }

    private mutating func sweep() {
        heap.removeAll { $0.isCancelled }
        // A sorted array is a heap.
        heap.sort { $0.deadline < $1.deadline }
        sweepAt = max(64, heap.count * 2)
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].deadline < heap[least].deadline { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
