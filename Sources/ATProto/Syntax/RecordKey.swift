/// The name of a record in its collection: 1 to 512 of `A-Z a-z 0-9 . _ ~ : -`, and neither `.` nor `..`.
///
/// Source: atproto.com/specs/record-key.
public struct RecordKey: SyntaxChecked {
    public static let kind = "record-key"
    public static let maximumLength = 512

    public let description: String

    public init(_ text: String) throws(SyntaxError) {
        try Self.check(text)
        description = text
    }

    public init(_ tid: TID) { description = tid.description }

    init(checked text: String) { description = text }

    public static func problem(in text: Span<UInt8>) -> String? {
        guard !text.isEmpty else { return "empty" }
        guard text.count <= maximumLength else { return "longer than 512 bytes" }
        var dots = 0
        for index in 0..<text.count {
            let byte = text[index]
            if byte.isAlphanumeric { continue }
            switch byte {
            case .ascii("."): dots += 1
            case .ascii("_"), .ascii("~"), .ascii(":"), .ascii("-"): continue
            default: return "a character that a record key cannot hold"
            }
        }
        return dots == text.count && dots <= 2 ? "reserved for paths" : nil
    }
}
