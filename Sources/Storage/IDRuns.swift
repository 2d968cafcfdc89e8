/// Row ids as runs without gaps, in ascending order: rows that were written together mostly end together, and one statement
/// then serves many of them.
struct IDRuns: Sequence, IteratorProtocol {
    private let ids: [Int64]
    private var index = 0

    init(_ ids: [Int64]) { self.ids = ids.sorted() }

    mutating func next() -> ClosedRange<Int64>? {
        guard index < ids.count else { return nil }
        let first = ids[index]
        var last = first
        index += 1
        while index < ids.count, ids[index] <= last + 1 {
            last = ids[index]
            index += 1
        }
        return first...last
    }
}

extension [ClosedRange<Int64>] {
    /// Whether one of these runs, which are in ascending order, holds `id`.
    func holds(_ id: Int64) -> Bool {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low].contains(id)
    }

    /// How many ids they hold.
    var idCount: Int { reduce(0) { $0 + $1.count } }
}
