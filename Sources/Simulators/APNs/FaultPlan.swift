/// Decides which fault a request meets. Pure: the same requests with the same seed meet the same faults.
struct FaultPlan {
    /// What a fault may depend on.
    struct Subject {
        /// In lower case.
        var token: String
        var payload: [UInt8]
        /// Which try of its `apns-id`, from 1.
        var attempt: Int
        /// Which well-formed request since the start, from 1.
        var number: Int
    }

    let faults: Faults

    /// The effect of the first rule whose conditions all hold.
    func effect(on subject: Subject) -> Faults.Effect? {
        for (place, rule) in faults.rules.enumerated() {
            let isAboutToken = if case .answer(let reason) = rule.effect { reason.isAboutToken } else { false }
            let holds = rule.conditions.allSatisfy { condition in
                switch condition {
                case .percent(let percent):
                    draw(subject, salt: UInt64(place), byToken: isAboutToken) * 100 < percent
                case .every(let count): subject.number.isMultiple(of: count)
                case .first(let count): subject.attempt <= count
                case .after(let count): subject.number > count
                case .nth(let number): subject.number == number
                case .token(let suffix): subject.token.hasSuffix(suffix)
                }
            }
            if holds { return rule.effect }
        }
        return nil
    }

    /// How long the answer is held back.
    func delay(of subject: Subject) -> Duration {
        guard let delay = faults.delay else { return .zero }
        return delay.lowerBound + (delay.upperBound - delay.lowerBound) * draw(subject, salt: .max, byToken: false)
    }

    /// A number from 0 up to 1 that depends on the seed and the request's content, not on arrival or `apns-id`:
    /// those differ from one run of a sender to the next.
    private func draw(_ subject: Subject, salt: UInt64, byToken: Bool) -> Double {
        var hash = ContentHash(seed: faults.seed)
        hash.add(salt)
        hash.add(subject.token.utf8)
        if !byToken {
            hash.add(UInt64(subject.attempt))
            hash.add(subject.payload)
        }
        return Double(hash.value >> 11) / Double(1 << 53)
    }
}

/// FNV-1a with SplitMix64's mixing at the end: no secret, and the same in every process.
private struct ContentHash {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    init(seed: UInt64) { add(seed) }

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    mutating func add(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    var value: UInt64 { SplitMix64.mixed(state) }
}

/// A small generator whose numbers are the same in every process with the same seed.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mixed(state)
    }

    static func mixed(_ bits: UInt64) -> UInt64 {
        var mixed = bits
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
