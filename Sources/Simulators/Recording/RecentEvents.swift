/// The latest events, for those that are delivered again: as many as a redelivery reaches back, and no more.
struct RecentEvents<Payload: Sendable>: Sendable {
    private var slots: [(index: Int, payload: Payload)?] = Array(
        repeating: nil, count: EveningScenario.redeliveryReach)

    mutating func keep(_ payload: Payload, of event: EveningEvent) {
        slots[event.index % slots.count] = (event.index, payload)
    }

    /// nil when the event with this index was not kept, or is too long ago.
    subscript(index: Int) -> Payload? {
        slots[index % slots.count].flatMap { $0.index == index ? $0.payload : nil }
    }
}
