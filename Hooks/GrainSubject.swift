import HookKit

/// What a favorite or a comment can point at.
enum GrainSubject: String, CaseIterable {
    case gallery, story, comment

    var collection: String { "social.grain.\(rawValue)" }

    /// The kind that an AT-URI names by its collection; nil for any other record.
    init?(uri: String) {
        guard let kind = Self.allCases.first(where: { uri.contains("/\($0.collection)/") }) else { return nil }
        self = kind
    }

    /// The DID of the record's author; nil when there is no such record.
    func author(of uri: String, in context: HookContext) async throws -> String? {
        let rows = try await context.db.query(#"SELECT did AS author FROM "\#(collection)" WHERE uri = $1"#, [uri])
        return rows.first?["author"]?.string
    }
}

extension HookContext {
    /// The display name of the person who committed, else "Someone".
    func actorName() async throws -> String {
        let profiles = try await lookup("social.grain.actor.profile", "did", [repo])
        guard let name = profiles[repo]?["displayName"]?.string, !name.isEmpty else { return "Someone" }
        return name
    }
}
