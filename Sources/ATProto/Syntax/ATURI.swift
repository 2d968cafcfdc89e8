/// `at://AUTHORITY[/COLLECTION[/RKEY]]`, without fragment or query, at most 8192 bytes.
///
/// Source: atproto.com/specs/at-uri-scheme, as lexicons restrict it.
public struct ATURI: SyntaxChecked {
    public static let kind = "at-uri"
    public static let maximumLength = 8192

    public let description: String
    public let identifier: ATIdentifier
    public let collection: NSID?
    public let rkey: RecordKey?

    public init(_ text: String) throws(SyntaxError) {
        let parts: Parts
        switch Self.split(text.utf8.span) {
        case .success(let found): parts = found
        case .failure(let error): throw error
        }
        func piece(_ range: Range<Int>) -> String {
            let bytes = text.utf8
            let start = bytes.index(bytes.startIndex, offsetBy: range.lowerBound)
            return String(text[start..<bytes.index(start, offsetBy: range.count)])
        }
        description = text
        identifier = ATIdentifier(checked: piece(parts.authority))
        collection = parts.collection.map { NSID(checked: piece($0)) }
        rkey = parts.rkey.map { RecordKey(checked: piece($0)) }
    }

    /// The address of a record.
    public init(repo: DID, collection: NSID, rkey: RecordKey) {
        description = "at://\(repo.description)/\(collection.description)/\(rkey.description)"
        identifier = .did(repo)
        self.collection = collection
        self.rkey = rkey
    }

    /// A DID or a handle.
    public var authority: String { identifier.description }

    public static func problem(in text: Span<UInt8>) -> String? {
        switch split(text) {
        case .success: nil
        case .failure(let error): error.reason
        }
    }

    private struct Parts {
        var authority: Range<Int>
        var collection: Range<Int>?
        var rkey: Range<Int>?
    }

    private static func split(_ text: Span<UInt8>) -> Result<Parts, SyntaxError> {
        func failure(_ reason: String) -> Result<Parts, SyntaxError> {
            .failure(SyntaxError(kind: kind, reason: reason))
        }
        guard text.count <= maximumLength else { return failure("longer than 8192 bytes") }
        guard text.has("at://") else { return failure("does not begin with at://") }
        var parts = Parts(authority: segment(of: text, from: 5))
        if let problem = ATIdentifier.problem(in: text.extracting(parts.authority)) { return failure(problem) }
        guard parts.authority.upperBound < text.count else { return .success(parts) }

        let collection = segment(of: text, from: parts.authority.upperBound + 1)
        if let problem = NSID.problem(in: text.extracting(collection)) { return failure(problem) }
        parts.collection = collection
        guard collection.upperBound < text.count else { return .success(parts) }

        let rkey = collection.upperBound + 1..<text.count
        if let problem = RecordKey.problem(in: text.extracting(rkey)) { return failure(problem) }
        parts.rkey = rkey
        return .success(parts)
    }

    /// From `start` to the next slash or the end.
    private static func segment(of text: Span<UInt8>, from start: Int) -> Range<Int> {
        var end = start
        while end < text.count, text[end] != .ascii("/") { end += 1 }
        return start..<end
    }
}
