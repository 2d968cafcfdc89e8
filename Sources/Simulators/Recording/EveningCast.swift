/// Somebody who takes part in an invented evening.
public struct EveningPerson: Sendable {
    public let did: String
    public let handle: String
    /// The seed of their repo's K-256 key: 32 bytes, a valid private key.
    public let signingKey: [UInt8]
    /// nil for those who never set one, and for those without a profile.
    let displayName: String?
    let hasProfile: Bool
    /// Tells apart the record keys of people who act at the same moment.
    let clockID: UInt16
}

/// A device that a demonstration or test registers before the evening is replayed.
public struct EveningDevice: Sendable, Hashable {
    public let did: String
    /// 64 hexadecimal digits.
    public let token: String
    /// What the push service shall answer; nil for a device that is alive.
    public let deadAnswer: DeadAnswer?

    public enum DeadAnswer: Sendable, Hashable, CaseIterable {
        /// 410 Unregistered.
        case unregistered
        /// 400 BadDeviceToken.
        case badDeviceToken
    }
}

extension APNsSimulator.Options {
    /// Answers for the devices that are dead as the evening has it.
    public mutating func addDead(among devices: [EveningDevice]) {
        for device in devices {
            switch device.deadAnswer {
            case .unregistered?: deadTokens.updateValue(nil, forKey: device.token)
            case .badDeviceToken?: badTokens.insert(device.token)
            case nil: break
            }
        }
    }
}

/// Everybody in the evening, invented from the seed.
struct EveningCast: Sendable {
    let people: [EveningPerson]
    /// Accounts that never write a record; what happens to them happens to nobody else.
    let bystanders: [EveningPerson]
    let devices: [EveningDevice]

    init(seed: UInt64, people count: Int, plain: Bool) {
        var random = SeededRandom(seed: seed, stream: 1)
        var oddNames = EveningWords.oddNames
        random.shuffle(&oddNames)
        people = (0..<count).map { index in
            let odd = plain || index % 2 == 0 ? nil : oddNames[index / 2 % oddNames.count]
            return Self.person(index, oddName: odd, plain: plain, &random)
        }
        bystanders = (0..<3).map { Self.person(count + $0, oddName: nil, plain: plain, &random) }

        var deviceRandom = SeededRandom(seed: seed, stream: 2)
        devices = people.enumerated().flatMap { Self.devices(of: $1, $0, &deviceRandom) }
    }

    private static func person(
        _ index: Int, oddName: String?, plain: Bool, _ random: inout SeededRandom
    ) -> EveningPerson {
        let first = random.pick(EveningWords.firstNames)
        let last = random.pick(EveningWords.lastNames)
        let key = random.privateScalar()
        // Of ten with ordinary names one has no profile, and one a profile without a name.
        let nameless = plain || oddName != nil ? 0 : index / 2 % 5
        return EveningPerson(
            did: random.plc(),
            handle: "\(first)-\(last)-\(index).example.com".lowercased(),
            signingKey: key,
            displayName: nameless == 1 || nameless == 3 ? nil : oddName ?? "\(first) \(last)",
            hasProfile: nameless != 3,
            clockID: UInt16(random.below(1024)))
    }

    /// Up to three devices; every fifth person has none, and one device in six is dead.
    private static func devices(
        of person: EveningPerson, _ index: Int, _ random: inout SeededRandom
    ) -> [EveningDevice] {
        guard index % 5 != 4 else { return [] }
        return (0..<1 + random.below(3)).map { _ in
            let token = random.text(64, of: "0123456789abcdef")
            let dead: EveningDevice.DeadAnswer? =
                random.chance(1, of: 6) ? (random.chance(1, of: 4) ? .badDeviceToken : .unregistered) : nil
            return EveningDevice(did: person.did, token: token, deadAnswer: dead)
        }
    }
}
