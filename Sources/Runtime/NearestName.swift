extension Sequence<String> {
    /// The name that a misspelt `name` most likely means; nil when none is near.
    public func nearest(to name: String) -> String? {
        let limit = Swift.max(1, name.count / 3)
        let near = map { (candidate: $0, distance: editDistance($0.lowercased(), name.lowercased())) }
            .filter { $0.distance <= limit }
        return near.min { $0.distance < $1.distance }?.candidate
    }
}

/// Levenshtein's distance, a swap of neighbours counting as one.
private func editDistance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
        var row = [i + 1]
        for j in 0..<b.count {
            var cost = Swift.min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = Swift.min(cost, beforeLast[j - 1] + 1) }
            row.append(cost)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}
