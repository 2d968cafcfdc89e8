/// A handle: a domain name of at least two labels, at most 253 bytes, whose last label begins with a letter.
///
/// Kept as written; handles that differ only in case are the same, see `normalized`.
/// Source: atproto.com/specs/handle.
public struct Handle: SyntaxChecked {
    public static let kind = "handle"
    public static let maximumLength = 253

    public let description: String

    public init(_ text: String) throws(SyntaxError) {
        try Self.check(text)
        description = text
    }

    init(checked text: String) { description = text }

    /// The handle in lowercase, for comparing.
    public var normalized: Handle { Handle(checked: description.lowercased()) }

    public static func problem(in text: Span<UInt8>) -> String? {
        guard text.count <= maximumLength else { return "longer than 253 bytes" }
        let labels = DomainLabels(text)
        guard let last = labels.lastStart else { return labels.problem }
        guard labels.count >= 2 else { return "a handle needs at least two labels" }
        guard text[last].isLetter else { return "the last label must begin with a letter" }
        return nil
    }
}

/// The labels of a domain name: 1 to 63 letters, digits and inner hyphens each, with dots between.
struct DomainLabels {
    private(set) var count = 0
    /// Where the last label begins; nil when some label is malformed.
    private(set) var lastStart: Int?
    private(set) var problem = "an empty label"

    init(_ text: Span<UInt8>) {
        var start = 0
        while true {
            var end = start
            while end < text.count, text[end] != .ascii(".") {
                guard text[end].isAlphanumeric || text[end] == .ascii("-") else {
                    problem = "a character that a domain name cannot hold"
                    return
                }
                end += 1
            }
            guard end > start else { return }
            guard end - start <= 63 else {
                problem = "a label longer than 63 bytes"
                return
            }
            guard text[start] != .ascii("-"), text[end - 1] != .ascii("-") else {
                problem = "a label begins or ends with a hyphen"
                return
            }
            count += 1
            if end == text.count {
                lastStart = start
                return
            }
            start = end + 1
        }
    }
}
