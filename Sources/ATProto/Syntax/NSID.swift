/// A namespaced identifier: a reversed domain name and a name, `app.bsky.feed.post`.
///
/// At most 317 bytes (253 of authority and 63 of name, but only their sum is bounded in practice). Source: atproto.com/specs/nsid.
public struct NSID: SyntaxChecked {
    public static let kind = "nsid"
    public static let maximumLength = 317

    public let description: String

    public init(_ text: String) throws(SyntaxError) {
        try Self.check(text)
        description = text
    }

    init(checked text: String) { description = text }

    /// The reversed domain, as written: `app.bsky.feed` in `app.bsky.feed.post`.
    public var authority: String { String(description[..<lastDot]) }

    /// The last segment: `post` in `app.bsky.feed.post`.
    public var name: String { String(description[description.utf8.index(after: lastDot)...]) }

    private var lastDot: String.Index {
        description.utf8.lastIndex(of: .ascii(".")) ?? description.startIndex
    }

    public static func problem(in text: Span<UInt8>) -> String? {
        guard text.count <= maximumLength else { return "longer than 317 bytes" }
        let segments = DomainLabels(text)
        guard let nameStart = segments.lastStart else { return segments.problem }
        guard segments.count >= 3 else { return "an NSID needs at least three segments" }
        guard text[0].isLetter else { return "the first segment must begin with a letter" }
        guard text[nameStart].isLetter else { return "the name must begin with a letter" }
        for index in nameStart..<text.count where text[index] == .ascii("-") {
            return "the name may hold letters and digits only"
        }
        return nil
    }
}
