import Crypto

extension PLCIdentity {
    /// The people of an evening, with the keys that sign its commits.
    public static func people(of evening: GrainEvening) -> [PLCIdentity] {
        evening.people.compactMap { person in
            guard let key = try? PrivateKey(.k256, scalar: person.signingKey) else { return nil }
            return PLCIdentity(did: person.did, handle: person.handle, privateKey: key)
        }
    }

    /// Accounts that never write a record, invented from a seed, one of each kind that a directory has: both curves in
    /// today's form and in the older one, no key at all, given up.
    public static func oddities(seed: UInt64) -> [PLCIdentity] {
        let kinds: [(name: String, curve: Curve, form: KeyForm, isTombstoned: Bool)] = [
            ("p256", .p256, .multikey, false), ("k256", .k256, .multikey, false),
            ("legacy-p256", .p256, .legacy, false), ("legacy-k256", .k256, .legacy, false),
            ("keyless", .k256, .absent, false), ("tombstoned", .k256, .multikey, true),
        ]
        var random = SeededRandom(seed: seed, stream: 31)
        return kinds.compactMap { kind in
            guard let key = try? PrivateKey(kind.curve, scalar: random.privateScalar()) else { return nil }
            return PLCIdentity(
                did: random.plc(), handle: "\(kind.name).example.com", privateKey: key, keyForm: kind.form,
                isTombstoned: kind.isTombstoned)
        }
    }
}

extension SeededRandom {
    /// The identifier of an invented account, which no genesis operation stands behind.
    mutating func plc() -> String { "did:plc:" + text(24, of: "abcdefghijklmnopqrstuvwxyz234567") }

    /// A private key of either curve: the groups' orders begin with 0xffff…; this stays below them, and above zero.
    mutating func privateScalar() -> [UInt8] {
        var scalar = bytes(32)
        scalar[0] = scalar[0] & 0x7f | 0x40
        return scalar
    }
}
