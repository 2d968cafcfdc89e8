import ATProto

/// What people ordinarily do.
extension EveningScenario {
    mutating func play(_ beat: EveningBeat) {
        switch beat {
        case .gallery: postGallery(by: somebody())
        case .story: postStory(by: somebody())
        case .favoriteGallery: favorite(galleries.notice(&random))
        case .favoriteStory: favorite(stories.notice(&random))
        case .favoriteComment: favorite(comments.notice(&random))
        case .comment: comment(on: galleryOrStory())
        case .reply: reply(to: comments.notice(&random))
        case .follow:
            let follower = somebody()
            follow(somebody(but: follower), by: follower)
        case .editComment, .editGallery, .editProfile, .editFavorite, .deleteFavorite, .deleteUnnoticed,
            .recreateFavorite, .recreateComment, .severalOps, .swapFavorite:
            change(beat)
        case .favoriteOwn, .followSelf, .commentOnOwn, .replyToSelf, .replyToUnknown, .replyToAuthor, .replyOnOwn,
            .reactToUnknown, .favoriteDeleted, .favoriteOtherKind, .followUnknown, .deleteUnknown:
            playOdd(beat)
        case .otherCollection, .again, .identity, .account, .blankLine, .invalidRecord, .faultyRecord,
            .severalOpsOneFaulty, .broken:
            disturb(beat)
        }
    }

    /// The first that is heard of a person: their profile, with a follow in the same commit now and then, or nothing.
    mutating func introduce(_ newcomer: Int) {
        let person = cast.people[newcomer]
        guard person.hasProfile else { return }
        let description = random.chance(1, of: 2) ? random.pick(EveningWords.descriptions) : nil
        let avatar = random.chance(1, of: 3) ? RecordDraft.blob(&random) : nil
        var draft = begin(newcomer)
        let profile = EveningProfile(
            name: person.displayName, description: description, avatar: avatar, created: draft.time)
        draft.add(.create, .profile, "self", profile.record)
        if !plain, newcomer > 0, random.chance(1, of: 6) {
            let friend = cast.people[random.below(newcomer)].did
            draft.create(.follow, RecordDraft.follow(subject: friend, time: draft.time))
            haveReacted.insert(newcomer)
        }
        profiles[newcomer] = profile
        publish(draft)
    }

    mutating func postGallery(by author: Int) {
        let title = random.pick(plain || random.chance(3, of: 4) ? EveningWords.titles : EveningWords.oddTitles)
        let description = random.chance(1, of: 2) ? random.pick(EveningWords.descriptions) : nil
        // A property that the lexicon does not know, with bytes in it; at any length of padding.
        let thumbnail = random.chance(1, of: 4) ? Value.bytes(random.bytes(random.below(24))) : nil
        var draft = begin(author)
        let record = draft.create(
            .gallery,
            RecordDraft.gallery(
                title: title, description: description, [("thumbnail", thumbnail)], time: draft.time))
        galleries.add(post(.gallery, record, draft))
        publish(draft)
    }

    mutating func postStory(by author: Int) {
        let media = random.chance(3, of: 4) ? RecordDraft.blob(&random) : nil
        var draft = begin(author)
        let record = draft.create(.story, RecordDraft.story(media: media, time: draft.time))
        stories.add(post(.story, record, draft))
        publish(draft)
    }

    func post(_ kind: EveningPost.Kind, _ record: CommitDraft.NewRecord, _ draft: CommitDraft) -> EveningPost {
        EveningPost(uri: record.uri, author: draft.author, rkey: record.rkey, created: draft.time, kind: kind)
    }

    mutating func galleryOrStory(where suits: (EveningPost) -> Bool = { _ in true }) -> EveningPost? {
        if random.chance(1, of: 3), let story = stories.notice(&random, where: suits) { return story }
        return galleries.notice(&random, where: suits)
    }

    /// Somebody favorites `subject`; where there is none yet, somebody posts one.
    mutating func favorite(_ subject: EveningPost?, by fan: Int? = nil) {
        guard let subject else { return postGallery(by: somebody()) }
        favorite(uri: subject.uri, by: fan ?? somebody(but: subject.author))
    }

    mutating func favorite(uri: String, by fan: Int) {
        haveReacted.insert(fan)
        var draft = begin(fan)
        let favorite = draft.create(.favorite, RecordDraft.favorite(subject: uri, time: draft.time))
        remember(favorite: favorite.rkey, of: uri, by: fan)
        publish(draft)
    }

    mutating func remember(favorite rkey: String, of subject: String, by fan: Int) {
        if favorites.count == 256 { favorites.removeFirst(64) }
        favorites.append(OwnRecord(author: fan, rkey: rkey, subject: subject))
    }

    mutating func comment(on subject: EveningPost?, by author: Int? = nil) {
        guard let subject else { return postStory(by: somebody()) }
        write(
            comment: author ?? somebody(but: subject.author), on: subject.uri, of: subject.author, replyTo: nil)
    }

    mutating func reply(to parent: EveningPost?, by author: Int? = nil) {
        guard let parent, let subject = parent.subject, let owner = parent.subjectAuthor else {
            return comment(on: galleryOrStory())
        }
        write(comment: author ?? somebody(but: parent.author), on: subject, of: owner, replyTo: parent.uri)
    }

    mutating func write(comment author: Int, on subject: String, of owner: Int, replyTo parent: String?) {
        haveReacted.insert(author)
        var text = random.pick(plain || random.chance(2, of: 3) ? EveningWords.texts : EveningWords.oddTexts)
        var facets: Value?
        if random.chance(1, of: 6) {
            let friend = cast.people[somebody()]
            (text, facets) = RecordDraft.mention(of: friend.did, handle: friend.handle, in: text)
        }
        var draft = begin(author)
        let record = draft.create(
            .comment,
            RecordDraft.comment(subject: subject, text: text, replyTo: parent, facets: facets, time: draft.time))
        var comment = post(.comment, record, draft)
        comment.subject = subject
        comment.subjectAuthor = owner
        comment.replyTo = parent
        comments.add(comment)
        publish(draft)
    }

    mutating func follow(_ followed: Int, by follower: Int) { follow(did: cast.people[followed].did, by: follower) }

    mutating func follow(did: String, by follower: Int) {
        haveReacted.insert(follower)
        var draft = begin(follower)
        draft.create(.follow, RecordDraft.follow(subject: did, time: draft.time))
        publish(draft)
    }
}

extension EveningProfile {
    var record: Value { RecordDraft.profile(name: name, description: description, avatar: avatar, time: created) }
}
