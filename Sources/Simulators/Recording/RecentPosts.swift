/// A gallery, story or comment that people can react to.
struct EveningPost: Sendable {
    enum Kind: Sendable { case gallery, story, comment }

    var uri: String
    var author: Int
    var rkey: String
    var created: Int64
    var kind: Kind
    /// For a comment: what it is about, and who made that.
    var subject: String?
    var subjectAuthor: Int?
    var replyTo: String?
    /// True once somebody has reacted to it; it is not deleted any more.
    var isNoticed = false
}

/// A record that only its author cares about.
struct OwnRecord: Sendable {
    var author: Int
    var rkey: String
    var subject: String
}

/// The latest posts of one kind: reactions go to these, so that memory stays bounded however long the evening.
struct RecentPosts: Sendable {
    private static let capacity = 512
    private(set) var posts: [EveningPost] = []

    var isEmpty: Bool { posts.isEmpty }

    mutating func add(_ post: EveningPost) {
        if posts.count == Self.capacity { posts.removeFirst(Self.capacity / 4) }
        posts.append(post)
    }

    /// One of those that `suits` accepts, marked as noticed.
    mutating func notice(
        _ random: inout SeededRandom, where suits: (EveningPost) -> Bool = { _ in true }
    ) -> EveningPost? {
        guard let index = draw(&random, where: suits) else { return nil }
        posts[index].isNoticed = true
        return posts[index]
    }

    /// One that nobody has noticed, taken out.
    mutating func takeUnnoticed(_ random: inout SeededRandom) -> EveningPost? {
        draw(&random, where: { !$0.isNoticed }).map { posts.remove(at: $0) }
    }

    private func draw(_ random: inout SeededRandom, where suits: (EveningPost) -> Bool) -> Int? {
        guard !posts.isEmpty else { return nil }
        let start = random.below(posts.count)
        return (0..<posts.count).lazy.map { (start + $0) % posts.count }.first { suits(posts[$0]) }
    }
}
