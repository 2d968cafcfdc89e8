import ATProto

/// What a firehose brings besides grain's records, and what is wrong with some of them.
extension EveningScenario {
    mutating func disturb(_ beat: EveningBeat) {
        switch beat {
        case .otherCollection: postElsewhere(by: somebody())
        case .again: tellAgain()
        case .identity:
            let person = cast.people[somebody()]
            let time = clock.tick(&random)
            tell(.identity(did: person.did, handle: random.chance(2, of: 3) ? person.handle : nil), at: time)
        case .account:
            let isBystander = random.chance(1, of: 2)
            let did = isBystander ? random.pick(cast.bystanders).did : cast.people[somebody()].did
            let status = isBystander ? random.pick(["deactivated", "takendown", "suspended", "deleted"]) : nil
            tell(.account(did: did, status: status), at: clock.tick(&random))
        case .blankLine: tell(.blankLine, at: clock.now)
        case .invalidRecord: commitInvalid()
        case .faultyRecord, .severalOpsOneFaulty: commitFaulty(withSiblings: beat == .severalOpsOneFaulty)
        default: breakCommit()
        }
    }

    private mutating func postElsewhere(by author: Int) {
        var draft = begin(author)
        switch random.below(3) {
        case 0: draft.create(.photo, RecordDraft.photo(&random, time: draft.time))
        case 1: draft.create(.post, RecordDraft.post(&random, time: draft.time))
        default:
            let uri = "at://\(cast.people[somebody()].did)/app.bsky.feed.post/3mpsjbtci2c2o"
            draft.create(.like, RecordDraft.like(uri: uri, &random, time: draft.time))
        }
        publish(draft)
    }

    /// A record that its lexicon refuses. Taken as valid, most of them would notify somebody.
    private mutating func commitInvalid() {
        guard let subject = galleryOrStory() else { return postGallery(by: somebody()) }
        let author = somebody(but: subject.author)
        var draft = begin(author)
        let uri = Value.string(subject.uri)
        let text = Value.string("Never to be seen.")
        let time = draft.time
        invalidTurn += 1
        switch invalidTurn % 9 {
        case 0: addInvalid(&draft, .favorite, [("subject", uri)], time: nil)
        case 1:
            let createdAt = Value.string("yesterday evening")
            addInvalid(&draft, .comment, [("subject", uri), ("text", text), ("createdAt", createdAt)], time: nil)
        case 2: addInvalid(&draft, .gallery, [("description", text)], time: time)
        case 3: addInvalid(&draft, .follow, [("subject", .string("somebody"))], time: time)
        case 4:
            // A follow by its $type, in the collection of favorites.
            let record = RecordDraft.record(.follow, time: time, [("subject", uri)])
            draft.create(.favorite, record, fault: .invalid)
        case 5: addInvalid(&draft, .comment, [("subject", uri), ("text", .integer(7))], time: time)
        case 6: addInvalid(&draft, .favorite, [("subject", .string("https://example.com/3m"))], time: time)
        case 7: addInvalid(&draft, .comment, [("subject", uri), ("text", text), ("replyTo", .null)], time: time)
        default:
            let createdAt = Value.string("2026-07-04T18:00:00")
            addInvalid(&draft, .favorite, [("subject", uri), ("createdAt", createdAt)], time: nil)
        }
        publish(draft, repeatable: false)
    }

    private func addInvalid(
        _ draft: inout CommitDraft, _ collection: GrainCollection, _ properties: [(String, Value?)], time: Int64?
    ) {
        draft.create(collection, RecordDraft.record(collection, time: time, properties), fault: .invalid)
    }

    /// A record whose bytes cannot be used, alone or between two that can.
    private mutating func commitFaulty(withSiblings: Bool) {
        guard let subject = galleryOrStory() else { return postGallery(by: somebody()) }
        let author = somebody(but: subject.author)
        haveReacted.insert(author)
        var draft = begin(author)
        if withSiblings {
            draft.create(.favorite, RecordDraft.favorite(subject: subject.uri, time: draft.time))
        }
        faultTurn += 1
        let fault = [EveningOp.Fault.otherContent, .float, .loneSurrogate, .missing][faultTurn % 4]
        let properties: [(String, Value?)] = [
            ("subject", .string(subject.uri)),
            ("text", .string("Broken" + (fault == .loneSurrogate ? EveningOp.brokenTextMarker : ""))),
            ("exposure", fault == .float ? .integer(EveningOp.floatMarker) : nil),
        ]
        draft.create(.comment, RecordDraft.record(.comment, time: draft.time, properties), fault: fault)
        if withSiblings {
            draft.create(
                .follow, RecordDraft.follow(subject: cast.people[subject.author].did, time: draft.time))
        }
        publish(draft, repeatable: false)
    }

    /// A comment of which only rubbish arrives.
    private mutating func breakCommit() {
        guard let subject = galleryOrStory() else { return postGallery(by: somebody()) }
        var draft = begin(somebody(but: subject.author))
        draft.create(.favorite, RecordDraft.favorite(subject: subject.uri, time: draft.time))
        var breakage = EveningEvent.Breakage.truncated
        if random.chance(1, of: 2) {
            // No line feed: in a file of lines it would make two broken lines of one.
            breakage = .garbage(random.bytes(40 + random.below(80)).map { $0 == 0x0a || $0 == 0x0d ? 0xff : $0 })
        }
        tell(.broken(draft.commit, breakage), at: draft.time)
    }
}
