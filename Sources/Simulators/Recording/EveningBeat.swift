/// What can happen in the evening, each beat with how often it comes in a round.
enum EveningBeat: CaseIterable, Sendable {
    // Ordinary life.
    case gallery, story, favoriteGallery, favoriteStory, favoriteComment, comment, reply, follow
    // Changes.
    case editComment, editGallery, editProfile, editFavorite
    case deleteFavorite, deleteUnnoticed, recreateFavorite, recreateComment
    case severalOps, swapFavorite
    // What must notify nobody, or somebody else than one might think.
    case favoriteOwn, followSelf, commentOnOwn, replyToSelf, replyToUnknown, replyToAuthor, replyOnOwn
    case reactToUnknown, favoriteDeleted, favoriteOtherKind, followUnknown, deleteUnknown
    // What the firehose does.
    case otherCollection, again, identity, account, blankLine
    // What is wrong.
    case invalidRecord, faultyRecord, severalOpsOneFaulty, broken

    /// How many times it comes in a round of an evening with everything in it.
    var share: Int {
        switch self {
        case .favoriteGallery: 26
        case .comment: 20
        case .gallery, .follow, .reply: 14
        case .favoriteStory, .favoriteComment: 8
        case .story, .otherCollection, .again: 7
        case .faultyRecord, .invalidRecord: 4
        case .editComment, .editGallery, .editProfile, .deleteFavorite, .reactToUnknown, .severalOps: 3
        case .identity, .account, .blankLine, .broken: 2
        case .favoriteOwn, .commentOnOwn, .replyToSelf, .replyToUnknown, .replyToAuthor, .replyOnOwn: 2
        case .editFavorite, .deleteUnnoticed, .recreateFavorite, .recreateComment, .swapFavorite: 2
        case .followSelf, .favoriteDeleted, .favoriteOtherKind, .followUnknown, .deleteUnknown: 1
        case .severalOpsOneFaulty: 1
        }
    }

    /// True for the beats of a plain evening: creates alone, one op a commit, every event readable.
    var isPlain: Bool {
        switch self {
        case .gallery, .story, .favoriteGallery, .favoriteStory, .favoriteComment, .comment, .reply, .follow: true
        default: false
        }
    }
}

/// A round of beats in random order, dealt again when it is used up, so that every beat surely comes.
struct EveningDeck: Sendable {
    private let round: [EveningBeat]
    private var left: [EveningBeat] = []

    init(plain: Bool) {
        round = EveningBeat.allCases.filter { !plain || $0.isPlain }.flatMap { Array(repeating: $0, count: $0.share) }
    }

    mutating func deal(_ random: inout SeededRandom) -> EveningBeat {
        if left.isEmpty {
            left = round
            random.shuffle(&left)
        }
        return left.removeLast()
    }
}
