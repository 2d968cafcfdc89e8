/// The formats that a lexicon can ask of a string. Source: atproto.com/specs/lexicon#string-formats.
enum StringFormat: String, Sendable, CaseIterable {
    case atIdentifier = "at-identifier"
    case atURI = "at-uri"
    case cid
    case datetime
    case did
    case handle
    case language
    case nsid
    case recordKey = "record-key"
    case tid
    case uri

    func accepts(_ text: String) -> Bool {
        switch self {
        case .atIdentifier: ATIdentifier.isValid(text)
        case .atURI: ATURI.isValid(text)
        case .cid: CID.isValid(text)
        case .datetime: Datetime.isValid(text)
        case .did: DID.isValid(text)
        case .handle: Handle.isValid(text)
        case .language: LanguageTag.isWellFormed(text)
        case .nsid: NSID.isValid(text)
        case .recordKey: RecordKey.isValid(text)
        case .tid: TID.isValid(text)
        case .uri: Self.isURI(text)
        }
    }

    /// Bytes of a `uri`.
    static let maximumURILength = 8192

    /// A scheme, a colon and something behind it, without white space or control characters. Source: RFC 3986, kept as
    /// loose as the protocol's own implementations.
    private static func isURI(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count <= maximumURILength, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = bytes[..<colon]
        guard let first = scheme.first, first.isLetter, scheme.allSatisfy(isSchemeByte) else { return false }
        var rest = bytes[colon...].dropFirst()
        if rest.starts(with: "//".utf8) { rest = rest.dropFirst(2) }
        guard !rest.isEmpty, rest.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return false }
        return rest.allSatisfy { $0 < 0x80 } || !text.unicodeScalars.contains { $0.properties.isWhitespace }
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte == .ascii("+") || byte == .ascii("-") || byte == .ascii(".") || byte == .ascii("_")
    }
}
