/// A DID or a handle: what may stand where an account is named.
public enum ATIdentifier: SyntaxChecked {
    case did(DID)
    case handle(Handle)

    public static let kind = "at-identifier"

    public init(_ text: String) throws(SyntaxError) {
        try Self.check(text)
        self.init(checked: text)
    }

    init(checked text: String) {
        self = text.utf8.span.has("did:") ? .did(DID(checked: text)) : .handle(Handle(checked: text))
    }

    public var did: DID? { if case .did(let did) = self { did } else { nil } }
    public var handle: Handle? { if case .handle(let handle) = self { handle } else { nil } }

    public var description: String {
        switch self {
        case .did(let did): did.description
        case .handle(let handle): handle.description
        }
    }

    public static func problem(in text: Span<UInt8>) -> String? {
        text.has("did:") ? DID.problem(in: text) : Handle.problem(in: text)
    }
}
