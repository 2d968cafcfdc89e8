import ATProto

/// The evening as it unfolds: an endless story, cut off after the wanted number of events.
///
/// What it tells has one outcome however a reader batches it: what somebody reacts to was created before and stays,
/// a name stands before its bearer's first reaction and stays, what is unknown never existed or is gone for good.
struct EveningScenario: Sequence, IteratorProtocol {
    let cast: EveningCast
    let plain: Bool
    private let wanted: Int

    var random: SeededRandom
    var clock: EveningClock
    private var deck: EveningDeck
    private var seq: Int64 = 31_600_000_000
    private var emitted = 0
    /// Told but not yet taken.
    private var pending: [EveningEvent] = []

    /// People that have appeared, the first so many of the cast.
    private(set) var arrived = 0
    /// Those of them whose names may no longer change.
    var haveReacted: Set<Int> = []
    var profiles: [Int: EveningProfile] = [:]
    var galleries = RecentPosts()
    var stories = RecentPosts()
    var comments = RecentPosts()
    /// Posts that were deleted before anybody took notice, and never come back.
    var deleted: [String] = []
    var favorites: [OwnRecord] = []
    // Turns through the kinds of what is wrong, so that each comes.
    var faultTurn = 0
    var invalidTurn = 0
    /// Events that can be delivered again: commits with nothing wrong in them.
    private var repeatable: [Int] = []

    /// How far back, in events, a redelivery reaches.
    static let redeliveryReach = 64

    init(seed: UInt64, cast: EveningCast, events: Int, plain: Bool) {
        self.cast = cast
        self.plain = plain
        wanted = events
        random = SeededRandom(seed: seed, stream: 3)
        clock = EveningClock(events: events)
        deck = EveningDeck(plain: plain)
    }

    mutating func next() -> EveningEvent? {
        while pending.isEmpty {
            guard emitted < wanted else { return nil }
            if arrived < peopleDue {
                arrived += 1
                introduce(arrived - 1)
            } else {
                play(deck.deal(&random))
            }
        }
        return pending.removeFirst()
    }

    /// A third of the cast is there from the start; the last come when three quarters are over.
    private var peopleDue: Int {
        let crowd = cast.people.count
        let early = Swift.max(Swift.min(crowd, 2), crowd / 3)
        return Swift.min(crowd, early + (crowd - early) * emitted / Swift.max(wanted * 3 / 4, 1))
    }

    // MARK: Telling

    /// Takes a moment, and begins a commit of `author`.
    mutating func begin(_ author: Int) -> CommitDraft {
        CommitDraft(author: author, person: cast.people[author], time: clock.tick(&random))
    }

    /// - Parameter isRepeatable: false for what would be counted differently a second time.
    mutating func publish(_ draft: CommitDraft, repeatable isRepeatable: Bool = true) {
        if isRepeatable, !plain { repeatable.append(emitted) }
        tell(.commit(draft.commit), at: draft.time)
    }

    mutating func tell(_ kind: EveningEvent.Kind, at time: Int64) {
        guard emitted < wanted else { return }
        if case .blankLine = kind {
            pending.append(EveningEvent(index: emitted, time: time, seq: seq, kind: kind))
            return
        }
        seq += Int64(1 + random.below(9))
        pending.append(EveningEvent(index: emitted, time: time, seq: seq, kind: kind))
        emitted += 1
    }

    /// Delivers a recent commit again.
    mutating func tellAgain() {
        repeatable.removeAll { $0 <= emitted - Self.redeliveryReach }
        guard !repeatable.isEmpty else { return }
        tell(.again(random.pick(repeatable)), at: clock.now)
    }

    // MARK: Who

    mutating func somebody() -> Int { random.below(arrived) }

    /// Somebody else, if there is anybody else.
    mutating func somebody(but excluded: Int) -> Int {
        guard arrived > 1 else { return excluded }
        let drawn = random.below(arrived - 1)
        return drawn >= excluded ? drawn + 1 : drawn
    }
}

/// A person's profile as it stands.
struct EveningProfile: Sendable {
    var name: String?
    var description: String?
    var avatar: Value?
    var created: Int64
}

/// The ops of a commit that is being written.
struct CommitDraft {
    let author: Int
    let time: Int64
    private let person: EveningPerson
    private var ops: [EveningOp] = []

    init(author: Int, person: EveningPerson, time: Int64) {
        self.author = author
        self.person = person
        self.time = time
    }

    var commit: EveningCommit {
        let rev = TID(microseconds: time, clockID: person.clockID)
        return EveningCommit(author: author, did: person.did, rev: rev, ops: ops)
    }

    /// Adds a create under a new record key.
    @discardableResult
    mutating func create(
        _ collection: GrainCollection, _ record: Value, fault: EveningOp.Fault? = nil
    ) -> NewRecord {
        // Apps choose the key before the server commits; ticks leave room for this.
        let rkey = TID(microseconds: time - 50 + Int64(ops.count), clockID: person.clockID).description
        return add(.create, collection, rkey, record, fault: fault)
    }

    @discardableResult
    mutating func add(
        _ action: Action, _ collection: GrainCollection, _ rkey: String, _ record: Value?,
        fault: EveningOp.Fault? = nil
    ) -> NewRecord {
        let op = EveningOp(action: action, collection: collection, rkey: rkey, record: record, fault: fault)
        ops.append(op)
        return NewRecord(uri: "at://\(person.did)/\(op.path)", rkey: rkey)
    }

    struct NewRecord {
        var uri: String
        var rkey: String
    }
}
