/// Remembers something small about each `apns-id` seen lately, in bounded memory.
struct RecentIDs {
    struct Entry {
        var attempts = 0
        var wasAccepted = false
    }

    /// Two generations of this many ids: the older one is forgotten whole.
    private let generationSize: Int
    private var young: [String: Entry] = [:]
    private var old: [String: Entry] = [:]

    init(generationSize: Int = 250_000) { self.generationSize = generationSize }

    /// Counts a try, and returns which it is.
    mutating func noteAttempt(_ id: String) -> Int {
        var entry = entry(id)
        entry.attempts += 1
        set(id, entry)
        return entry.attempts
    }

    /// Notes that `id` was accepted; true when it had been before.
    mutating func noteAccepted(_ id: String) -> Bool {
        var entry = entry(id)
        let wasAccepted = entry.wasAccepted
        entry.wasAccepted = true
        set(id, entry)
        return wasAccepted
    }

    private func entry(_ id: String) -> Entry { young[id] ?? old[id] ?? Entry() }

    private mutating func set(_ id: String, _ entry: Entry) {
        if young.count >= generationSize, young[id] == nil {
            old = young
            young = [:]
        }
        young[id] = entry
    }
}
