import ATProto

/// Reactions that must notify nobody, or somebody else than one might think.
extension EveningScenario {
    mutating func playOdd(_ beat: EveningBeat) {
        switch beat {
        case .favoriteOwn:
            let own = galleryOrStory()
            favorite(own, by: own?.author)
        case .followSelf:
            let person = somebody()
            follow(person, by: person)
        case .commentOnOwn:
            let own = galleryOrStory()
            comment(on: own, by: own?.author)
        case .replyToSelf:
            // The gallery's author is told of a comment.
            let parent = comments.notice(&random) { $0.author != $0.subjectAuthor }
            reply(to: parent, by: parent?.author)
        case .replyToUnknown: replyToUnknown()
        case .replyToAuthor: replyToAuthor()
        case .replyOnOwn:
            // The parent's author is told of a reply, and nobody of a comment.
            let parent = comments.notice(&random) { $0.author != $0.subjectAuthor }
            reply(to: parent, by: parent?.subjectAuthor)
        case .reactToUnknown: reactToUnknown()
        case .favoriteDeleted:
            guard !deleted.isEmpty else { return reactToUnknown() }
            favorite(uri: random.pick(deleted), by: somebody())
        case .favoriteOtherKind:
            let kind: GrainCollection = random.chance(1, of: 2) ? .photo : .post
            favorite(uri: unknownURI(kind), by: somebody())
        case .followUnknown: follow(did: unknownDID(), by: somebody())
        default: deleteUnknown()
        }
    }

    private mutating func replyToUnknown() {
        guard let subject = galleryOrStory() else { return postGallery(by: somebody()) }
        write(
            comment: somebody(but: subject.author), on: subject.uri, of: subject.author,
            replyTo: unknownURI(.comment))
    }

    /// The author of the gallery is the author of the parent too, and is told once, of the reply.
    private mutating func replyToAuthor() {
        guard let parent = comments.notice(&random, where: { $0.author == $0.subjectAuthor }) else {
            let own = galleryOrStory()
            return comment(on: own, by: own?.author)
        }
        reply(to: parent)
    }

    private mutating func reactToUnknown() {
        let kind = random.pick([GrainCollection.gallery, .story, .comment])
        let uri = unknownURI(kind)
        let person = somebody()
        guard kind != .comment, random.chance(1, of: 2) else { return favorite(uri: uri, by: person) }
        haveReacted.insert(person)
        var draft = begin(person)
        let text = random.pick(EveningWords.texts)
        draft.create(
            .comment,
            RecordDraft.comment(subject: uri, text: text, replyTo: nil, facets: nil, time: draft.time))
        publish(draft)
    }

    private mutating func deleteUnknown() {
        var draft = begin(somebody())
        draft.add(.delete, .favorite, unknownKey(), nil)
        publish(draft, repeatable: false)
    }

    /// Of a record that never existed, of somebody known or not.
    private mutating func unknownURI(_ collection: GrainCollection) -> String {
        let did = random.chance(1, of: 2) ? cast.people[somebody()].did : unknownDID()
        return "at://\(did)/\(collection.rawValue)/\(unknownKey())"
    }

    private mutating func unknownDID() -> String {
        "did:plc:" + random.text(24, of: "abcdefghijklmnopqrstuvwxyz234567")
    }

    /// The key of a moment before the evening.
    private mutating func unknownKey() -> String {
        let time = EveningClock.start - Int64(1 + random.below(1_000_000_000))
        return TID(microseconds: time, clockID: UInt16(random.below(1024))).description
    }
}
