/// A text of up to 32 bytes of UTF-8, which a `did:plc` has, in itself: as the key of a dictionary it is compared without
/// a look elsewhere in memory.
struct ShortText: Hashable {
    static let limit = 32

    /// The bytes in order, then zeros.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// nil when the text is longer, or ends with a NUL, which would not be seen among the zeros.
    init?(_ text: String) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let isShort = text.utf8.withContiguousStorageIfAvailable { bytes in
            guard bytes.count <= Self.limit, bytes.last != 0 else { return false }
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(bytes)) }
            return true
        }
        guard isShort == true else { return nil }
        self.words = words
    }

    static func == (a: ShortText, b: ShortText) -> Bool { a.words == b.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
