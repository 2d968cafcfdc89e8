/// Bytes on their way out: appended behind, consumed in front, in one block of memory that grows when it must.
struct ByteBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private var start = 0
    private var end = 0

    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { memory.deallocate() }

    var count: Int { end - start }
    var isEmpty: Bool { start == end }

    /// What has not been consumed; valid until the next mutation.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory + start, count: end - start) }

    mutating func append(_ source: UnsafeRawPointer, count: Int) {
        reserve(count).copyMemory(from: source, byteCount: count)
        end += count
    }

    mutating func append(_ source: Slice<UnsafeRawBufferPointer>) {
        let source = UnsafeRawBufferPointer(rebasing: source)
        if let start = source.baseAddress { append(start, count: source.count) }
    }

    /// Room for `count` bytes behind the last; to be filled and then `commit`ted.
    mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if end + count > capacity { makeRoom(count) }
        return memory + end
    }

    mutating func commit(_ count: Int) { end += count }

    mutating func consume(_ count: Int) {
        start += count
        if start == end { removeAll() }
    }

    mutating func removeAll() {
        start = 0
        end = 0
    }

    private mutating func makeRoom(_ count: Int) {
        let kept = self.count
        if kept + count <= capacity {
            memory.copyMemory(from: memory + start, byteCount: kept)
        } else {
            capacity = max(capacity * 2, kept + count)
            let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
            larger.copyMemory(from: memory + start, byteCount: kept)
            memory.deallocate()
            memory = larger
        }
        start = 0
        end = kept
    }
}
