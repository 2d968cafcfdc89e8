/// The composed statements used last, by their SQL.
struct StatementCache {
    static let limit = 64

    private var entries: [String: (statement: HookStatement, lastUse: UInt64)] = [:]
    private var uses: UInt64 = 0

    /// The statement kept for `sql`, or what `prepare` makes.
    mutating func statement(
        _ sql: String, prepare: (String) throws -> HookStatement
    ) rethrows -> HookStatement {
        uses += 1
        // Keys that are canonically equivalent are equal to Swift, but not to SQL.
        if let known = entries[sql]?.statement, known.sql.utf8.elementsEqual(sql.utf8) {
            entries[sql]?.lastUse = uses
            return known
        }
        let made = try prepare(sql)
        if entries.count >= Self.limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            entries[oldest.key] = nil
        }
        entries[sql] = (made, uses)
        return made
    }

    mutating func removeAll() { entries = [:] }
}
