import ATProto

/// Edits, deletes, records that come back, and commits of several ops.
extension EveningScenario {
    mutating func change(_ beat: EveningBeat) {
        switch beat {
        case .editComment: editComment()
        case .editGallery: editGallery()
        case .editProfile: editProfile(of: somebody())
        case .editFavorite: editFavorite()
        case .deleteFavorite: deleteFavorite()
        case .deleteUnnoticed: deleteUnnoticed()
        case .recreateFavorite: recreateFavorite()
        case .recreateComment: recreateComment()
        case .swapFavorite: swapFavorite()
        default: commitSeveral()
        }
    }

    private mutating func editComment() {
        guard let comment = comments.notice(&random), let subject = comment.subject else {
            return self.comment(on: galleryOrStory())
        }
        var draft = begin(comment.author)
        let text = random.pick(EveningWords.oddTexts) + " (edited)"
        draft.add(
            .update, .comment, comment.rkey,
            RecordDraft.comment(
                subject: subject, text: text, replyTo: comment.replyTo, facets: nil, time: comment.created))
        publish(draft)
    }

    private mutating func editGallery() {
        guard let gallery = galleries.notice(&random) else { return postGallery(by: somebody()) }
        var draft = begin(gallery.author)
        draft.add(
            .update, .gallery, gallery.rkey,
            RecordDraft.gallery(
                title: random.pick(EveningWords.oddTitles), description: random.pick(EveningWords.oddTexts),
                time: gallery.created))
        publish(draft)
    }

    /// A new description; a new name as well for those who have not reacted to anything yet.
    private mutating func editProfile(of person: Int) {
        guard var profile = profiles[person] else { return postGallery(by: person) }
        profile.description = random.pick(EveningWords.oddTexts)
        if !haveReacted.contains(person) { profile.name = random.pick(EveningWords.oddNames) }
        profiles[person] = profile
        var draft = begin(person)
        draft.add(.update, .profile, "self", profile.record)
        publish(draft)
    }

    /// The favorite names another gallery from now on; an edit notifies nobody.
    private mutating func editFavorite() {
        guard let index = drawFavorite(), let gallery = galleries.notice(&random) else {
            return favorite(galleries.notice(&random))
        }
        favorites[index].subject = gallery.uri
        var draft = begin(favorites[index].author)
        draft.add(
            .update, .favorite, favorites[index].rkey, RecordDraft.favorite(subject: gallery.uri, time: draft.time))
        publish(draft)
    }

    private mutating func drawFavorite() -> Int? { favorites.isEmpty ? nil : random.below(favorites.count) }

    private mutating func deleteFavorite() {
        guard let index = drawFavorite() else { return favorite(galleries.notice(&random)) }
        let favorite = favorites.remove(at: index)
        var draft = begin(favorite.author)
        draft.add(.delete, .favorite, favorite.rkey, nil)
        publish(draft)
    }

    /// Something that nobody has reacted to goes, for good.
    private mutating func deleteUnnoticed() {
        let found =
            switch random.below(3) {
            case 0: galleries.takeUnnoticed(&random)
            case 1: stories.takeUnnoticed(&random)
            default: comments.takeUnnoticed(&random)
            }
        guard let post = found else { return postGallery(by: somebody()) }
        delete(post)
        if deleted.count == 64 { deleted.removeFirst() }
        deleted.append(post.uri)
    }

    private mutating func delete(_ post: EveningPost) {
        let collection: GrainCollection =
            switch post.kind {
            case .gallery: .gallery
            case .story: .story
            case .comment: .comment
            }
        var draft = begin(post.author)
        draft.add(.delete, collection, post.rkey, nil)
        publish(draft)
    }

    /// Taken back and given again under the same key, which notifies once more: the second is a create of its own.
    private mutating func recreateFavorite() {
        guard let index = drawFavorite() else { return favorite(stories.notice(&random)) }
        let favorite = favorites[index]
        var draft = begin(favorite.author)
        draft.add(.delete, .favorite, favorite.rkey, nil)
        publish(draft)
        if random.chance(1, of: 2) { postStory(by: somebody()) }
        draft = begin(favorite.author)
        draft.add(
            .create, .favorite, favorite.rkey, RecordDraft.favorite(subject: favorite.subject, time: draft.time))
        publish(draft)
    }

    private mutating func recreateComment() {
        guard var comment = comments.takeUnnoticed(&random), let subject = comment.subject else {
            return self.comment(on: galleryOrStory())
        }
        delete(comment)
        var draft = begin(comment.author)
        comment.created = draft.time
        draft.add(
            .create, .comment, comment.rkey,
            RecordDraft.comment(
                subject: subject, text: random.pick(EveningWords.texts), replyTo: comment.replyTo, facets: nil,
                time: draft.time))
        publish(draft)
        comments.add(comment)
    }

    /// A favorite is withdrawn and another given in the same commit.
    private mutating func swapFavorite() {
        guard let index = drawFavorite(), let gallery = galleries.notice(&random) else {
            return favorite(galleries.notice(&random))
        }
        let old = favorites.remove(at: index)
        var draft = begin(old.author)
        draft.add(.delete, .favorite, old.rkey, nil)
        let new = draft.create(.favorite, RecordDraft.favorite(subject: gallery.uri, time: draft.time))
        remember(favorite: new.rkey, of: gallery.uri, by: old.author)
        publish(draft)
    }

    private mutating func commitSeveral() {
        let author = somebody()
        guard let gallery = galleries.notice(&random), let story = stories.notice(&random), random.chance(2, of: 3)
        else { return postWithPhotos(by: author) }
        haveReacted.insert(author)
        var draft = begin(author)
        for subject in [gallery, story] {
            let favorite = draft.create(.favorite, RecordDraft.favorite(subject: subject.uri, time: draft.time))
            remember(favorite: favorite.rkey, of: subject.uri, by: author)
        }
        let follow = RecordDraft.follow(subject: cast.people[gallery.author].did, time: draft.time)
        draft.create(.follow, follow)
        publish(draft)
    }

    /// A gallery, the photos in it, and a favorite of it by its own author.
    private mutating func postWithPhotos(by author: Int) {
        var draft = begin(author)
        let title = random.pick(EveningWords.titles)
        let gallery = draft.create(
            .gallery, RecordDraft.gallery(title: title, description: nil, time: draft.time))
        for _ in 0..<2 { draft.create(.photo, RecordDraft.photo(&random, time: draft.time)) }
        draft.create(.favorite, RecordDraft.favorite(subject: gallery.uri, time: draft.time))
        galleries.add(post(.gallery, gallery, draft))
        haveReacted.insert(author)
        publish(draft)
    }
}
