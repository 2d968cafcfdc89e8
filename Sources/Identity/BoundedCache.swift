/// A dictionary of bounded size that forgets what was not asked for longest.
package struct BoundedCache<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    private struct Slot {
        var key: Key
        var element: Element
        /// Neighbours in order of use; -1 at the ends.
        var newer = -1
        var older = -1
    }

    package let capacity: Int
    private var slots: [Slot] = []
    private var places: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    /// - Parameter capacity: at least 1.
    package init(capacity: Int) { self.capacity = max(capacity, 1) }

    package var count: Int { slots.count }

    /// Asking, like setting, makes the element the newest. Setting nil is not supported: elements go when room is needed.
    package subscript(key: Key) -> Element? {
        mutating get {
            guard let place = places[key] else { return nil }
            touch(place)
            return slots[place].element
        }
    }

    package mutating func set(_ key: Key, _ element: Element) {
        if let place = places[key] {
            slots[place].element = element
            return touch(place)
        }
        if slots.count < capacity {
            slots.append(Slot(key: key, element: element))
            places[key] = slots.count - 1
            return link(slots.count - 1)
        }
        let place = oldest
        unlink(place)
        places[slots[place].key] = nil
        slots[place] = Slot(key: key, element: element)
        places[key] = place
        link(place)
    }

    private mutating func touch(_ place: Int) {
        guard place != newest else { return }
        unlink(place)
        link(place)
    }

    private mutating func link(_ place: Int) {
        slots[place].newer = -1
        slots[place].older = newest
        if newest >= 0 { slots[newest].newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (slots[place].newer, slots[place].older)
        if newer >= 0 { slots[newer].older = older } else { newest = older }
        if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    }
}
