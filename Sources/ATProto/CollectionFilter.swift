/// A set of collections: exact NSIDs, families (`app.bsky.*`), or all of them (`*`).
public struct CollectionFilter: Sendable, Hashable {
    private var exact: Set<String> = []
    /// Family prefixes with their final dot.
    private var families: [String] = []
    private var all = false

    public static let everything = CollectionFilter(["*"])

    public init(_ patterns: some Sequence<String>) {
        for pattern in patterns {
            if pattern == "*" {
                all = true
            } else if pattern.hasSuffix(".*") {
                families.append(String(pattern.dropLast()))
            } else {
                exact.insert(pattern)
            }
        }
    }

    public func contains(_ collection: String) -> Bool {
        all || exact.contains(collection) || families.contains { collection.hasPrefix($0) }
    }

    public func union(_ other: CollectionFilter) -> CollectionFilter {
        var result = self
        result.exact.formUnion(other.exact)
        result.families += other.families
        result.all = all || other.all
        return result
    }
}
