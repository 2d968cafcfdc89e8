/// Random numbers that follow from a seed alone: the same on every machine, in every version of Swift.
///
/// SplitMix64 (Steele, Lea and Flood, 2014). The standard library's `shuffled` and `randomElement` are not used with
/// it, since how they draw may change between versions.
struct SeededRandom: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A stream of its own for one purpose, so that drawing more for one thing changes nothing elsewhere.
    init(seed: UInt64, stream: UInt64) {
        var root = SeededRandom(seed: seed)
        var purpose = SeededRandom(seed: stream)
        state = root.next() ^ purpose.next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }

    /// A number from 0 up to, not including, `bound`.
    mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0)
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// True `share` times of `whole`.
    mutating func chance(_ share: Int, of whole: Int) -> Bool { below(whole) < share }

    /// One of `elements`, which must not be empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    mutating func shuffle<Element>(_ elements: inout [Element]) {
        for last in stride(from: elements.count - 1, to: 0, by: -1) { elements.swapAt(last, below(last + 1)) }
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 56) }
    }

    mutating func text(_ count: Int, of alphabet: StaticString) -> String {
        let size = alphabet.utf8CodeUnitCount
        return String(
            decoding: (0..<count).map { _ in alphabet.utf8Start[below(size)] }, as: UTF8.self)
    }
}
