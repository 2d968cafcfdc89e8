/// Row ids as runs without gaps, in ascending order: rows that were written together mostly end together, and one statement
/// then serves many of them.
struct IDRuns: Sequence, IteratorProtocol {
    private let ids: [Int64]
    private var index = 0

    /// The ids are distinct.
    init(_ ids: [Int64]) { self.ids = ids.sorted() }

    mutating func next() -> ClosedRange<Int64>? {
        guard index < ids.count else { return nil }
        let first = ids[index]
        var last = first
        index += 1
        while index < ids.count, ids[index] == last + 1 {
            last += 1
            index += 1
        }
        return first...last
    }
}
