/// A small seeded generator, so that a failing run can be repeated.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }

    /// Changes, flips, inserts, removes, repeats or cuts off some bytes.
    mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(UInt8.random(in: 0...255, using: &self)) }
        let place = Int.random(in: bytes.indices, using: &self)
        switch Int.random(in: 0..<7, using: &self) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
        case 3: bytes.remove(at: place)
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &self)))
        case 5: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 8)], at: place)
        default: bytes[place] = bytes[place] &+ UInt8(Bool.random(using: &self) ? 1 : 255)
        }
    }
}
