/// Memory for the texts of some rows while SQLite reads them: binding them from here costs one copy and no allocation.
/// Confined to the writer's thread.
final class TextArena {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var used = 0

    init(capacity: Int = 64 << 10) {
        self.capacity = capacity
        start = .allocate(capacity: capacity)
    }

    deinit { start.deallocate() }

    /// Empties the arena and makes room for `size` bytes: what was copied before is gone.
    func reset(size: Int) {
        used = 0
        guard size > capacity else { return }
        start.deallocate()
        capacity = max(size, 2 * capacity)
        start = .allocate(capacity: capacity)
    }

    /// Copies `text` and says where it lies until the next `reset`.
    @inline(__always)
    func copy(_ text: String) -> UnsafeBufferPointer<CChar> {
        text.utf8.withContiguousStorageIfAvailable { append($0) } ?? copy(Array(text.utf8))
    }

    @inline(__always)
    func copy(_ bytes: [UInt8]) -> UnsafeBufferPointer<CChar> { bytes.withUnsafeBufferPointer { append($0) } }

    @inline(__always)
    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeBufferPointer<CChar> {
        append(bytes.assumingMemoryBound(to: UInt8.self))
    }

    @inline(__always)
    private func append(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<CChar> {
        precondition(bytes.count <= capacity - used, "more text than was announced")
        let place = start + used
        if let source = bytes.baseAddress { place.update(from: source, count: bytes.count) }
        used += bytes.count
        return UnsafeBufferPointer(
            start: UnsafeRawPointer(place).assumingMemoryBound(to: CChar.self), count: bytes.count)
    }
}
