import CSQLite

/// A table of runs: rows of the outbox without a gap between them, `first` to `last`, of which one thing is said at once.
///
/// No two runs of a table overlap. Their key is `last`: a run that loses its first rows, as runs mostly do, is changed in
/// place. Confined to the writer's thread.
struct RowRuns {
    private let insert: Statement
    private let find: Statement
    private let shorten: Statement
    private let delete: Statement

    /// - Parameters:
    ///   - table: with the columns `first`, `last` and what is said of them.
    ///   - value: the name of the latter.
    init(_ connection: Connection, table: String, value: String) throws(StorageError) {
        insert = try connection.prepare("INSERT INTO \(table) (first, last, \(value)) VALUES (?, ?, ?)")
        find = try connection.prepare(
            "SELECT first, last, \(value) FROM \(table) WHERE last >= ? ORDER BY last LIMIT 1")
        shorten = try connection.prepare("UPDATE \(table) SET first = ? WHERE last = ?")
        delete = try connection.prepare("DELETE FROM \(table) WHERE last = ?")
    }

    /// Says `value` of rows of which nothing is said so far.
    func add(_ rows: some Sequence<ClosedRange<Int64>>, _ value: Int64) throws(StorageError) {
        for run in rows { try add(run, value) }
    }

    private func add(_ run: ClosedRange<Int64>, _ value: Int64) throws(StorageError) {
        insert.bind(1, run.lowerBound)
        insert.bind(2, run.upperBound)
        insert.bind(3, value)
        try insert.run()
    }

    /// Takes rows out of the table.
    /// - Parameter rows: in ascending order.
    /// - Returns: those that were in it, in ascending order.
    func take(_ rows: some Sequence<ClosedRange<Int64>>) throws(StorageError) -> [ClosedRange<Int64>] {
        var taken: [ClosedRange<Int64>] = []
        var run: ShrinkingRun?
        for wanted in rows {
            var next = wanted.lowerBound
            repeat {
                if run.map({ $0.last < next }) ?? true {
                    if let run { try write(run) }
                    run = try self.run(endingFrom: next)
                }
                guard let part = run?.take(next...wanted.upperBound) else { break }
                if let last = taken.last, last.upperBound + 1 == part.lowerBound {
                    taken[taken.count - 1] = last.lowerBound...part.upperBound
                } else {
                    taken.append(part)
                }
                next = part.upperBound + 1
            } while next <= wanted.upperBound
            if run == nil { break }
        }
        if let run { try write(run) }
        return taken
    }

    /// The first run that ends with the row `id` or behind it.
    private func run(endingFrom id: Int64) throws(StorageError) -> ShrinkingRun? {
        find.bind(1, id)
        defer { find.reset() }
        guard try find.step() else { return nil }
        return ShrinkingRun(rows: find.integer(0)...find.integer(1), value: find.integer(2))
    }

    private func write(_ run: ShrinkingRun) throws(StorageError) {
        for kept in run.kept { try add(kept, run.value) }
        if run.first > run.last {
            delete.bind(1, run.last)
            try delete.run()
        } else if run.isShrunk {
            shorten.bind(1, run.first)
            shorten.bind(2, run.last)
            try shorten.run()
        }
    }
}

/// A run that loses rows, in ascending order.
private struct ShrinkingRun {
    let value: Int64
    let last: Int64
    /// The first row behind those that were taken; behind `last` when none is left there.
    private(set) var first: Int64
    /// What is left in front of `first`.
    private(set) var kept: [ClosedRange<Int64>] = []
    private(set) var isShrunk = false

    init(rows: ClosedRange<Int64>, value: Int64) {
        (first, last) = (rows.lowerBound, rows.upperBound)
        self.value = value
    }

    /// Takes those of `wanted` that are in it; nil when none is.
    mutating func take(_ wanted: ClosedRange<Int64>) -> ClosedRange<Int64>? {
        let lower = max(wanted.lowerBound, first)
        let upper = min(wanted.upperBound, last)
        guard lower <= upper else { return nil }
        if first < lower { kept.append(first...lower - 1) }
        first = upper + 1
        isShrunk = true
        return lower...upper
    }
}
