/// Reads items of DAG-CBOR one after the other out of borrowed bytes.
///
/// Every read is checked against the end of the bytes; a count or length is believed only as far as bytes remain.
struct CBORReader {
    enum Kind: UInt8 {
        case unsigned, negative, bytes, text, array, map, tag, simple
    }

    /// The first bytes of an item: its kind, and the number that goes with it.
    struct Head {
        var kind: Kind
        var argument: UInt64
    }

    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset: Int
    /// How many more values may be made.
    var allowedValues = DAGCBOR.maximumCount

    /// - Parameter bytes: must outlive the reader.
    init(_ bytes: UnsafeBufferPointer<UInt8>, offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    var remaining: Int { bytes.count - offset }

    func failure(_ message: String, at place: Int? = nil) -> DecodingFailure {
        DecodingFailure(message, offset: place ?? offset)
    }

    func end() throws(DecodingFailure) {
        guard remaining == 0 else { throw failure("bytes behind the end of the value") }
    }

    // MARK: Heads

    /// The next item's head, in its shortest form.
    @inline(__always)
    mutating func head() throws(DecodingFailure) -> Head {
        guard offset < bytes.count else { throw failure("the bytes end inside a value") }
        let initial = bytes[offset]
        guard initial & 0x1f >= 24 else {
            offset += 1
            return Head(kind: Self.kind(initial), argument: UInt64(initial & 0x1f))
        }
        return try longHead(initial)
    }

    @inline(__always)
    private static func kind(_ initial: UInt8) -> Kind { Kind(rawValue: initial >> 5) ?? .simple }

    private mutating func longHead(_ initial: UInt8) throws(DecodingFailure) -> Head {
        let start = offset
        let head = try anyHead()
        guard head.kind != .simple else { throw failure(Self.simpleProblem(initial), at: start) }
        let shortest: UInt64 =
            switch initial & 0x1f {
            case 24: 24
            case 25: 1 << 8
            case 26: 1 << 16
            default: 1 << 32
            }
        guard head.argument >= shortest else { throw failure("a number that is not in its shortest form", at: start) }
        return head
    }

    /// The next item's head in any form that CBOR has, but for indefinite lengths.
    private mutating func anyHead() throws(DecodingFailure) -> Head {
        guard offset < bytes.count else { throw failure("the bytes end inside a value") }
        let initial = bytes[offset]
        let short = initial & 0x1f
        guard short >= 24 else {
            offset += 1
            return Head(kind: Self.kind(initial), argument: UInt64(short))
        }
        guard short < 28 else { throw failure(short == 31 ? "an indefinite length" : "no CBOR") }
        let width = 1 << Int(short - 24)
        guard remaining > width else { throw failure("the bytes end inside a number") }
        var argument: UInt64 = 0
        for index in 1...width { argument = argument << 8 | UInt64(bytes[offset + index]) }
        offset += 1 + width
        return Head(kind: Self.kind(initial), argument: argument)
    }

    private static func simpleProblem(_ initial: UInt8) -> String {
        switch initial {
        case 0xf9, 0xfa, 0xfb: "a float"
        default: "a simple value other than false, true and null"
        }
    }

    // MARK: Parts

    /// The range of a string's bytes, which the reader passes.
    @inline(__always)
    mutating func range(_ length: UInt64) throws(DecodingFailure) -> Range<Int> {
        guard length <= UInt64(remaining) else { throw failure("the bytes end inside a string") }
        let start = offset
        offset += Int(length)
        return start..<offset
    }

    /// How many items a collection has, each of at least `width` bytes.
    @inline(__always)
    func count(_ argument: UInt64, width: UInt64) throws(DecodingFailure) -> Int {
        guard argument <= UInt64(remaining) / width else { throw failure("more items than bytes remain") }
        return Int(argument)
    }

    @inline(__always)
    func slice(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[range]) }

    /// Valid UTF-8 as a String.
    func text(_ range: Range<Int>) throws(DecodingFailure) -> String {
        do {
            return String(copying: try UTF8Span(validating: Span(_unsafeElements: slice(range))))
        } catch {
            throw failure("a text that is not UTF-8", at: range.lowerBound)
        }
    }

    /// The range of the next map key, which must come after `previous` in canonical order.
    mutating func key(after previous: Range<Int>?) throws(DecodingFailure) -> Range<Int> {
        let start = offset
        let head = try head()
        guard head.kind == .text else { throw failure("a map key that is no text", at: start) }
        let key = try range(head.argument)
        if let previous, !precedes(previous, key) {
            throw failure("map keys that are not sorted, or not unique", at: start)
        }
        return key
    }

    /// Shorter first, then bytewise.
    private func precedes(_ a: Range<Int>, _ b: Range<Int>) -> Bool {
        guard a.count == b.count else { return a.count < b.count }
        for index in 0..<a.count {
            let (x, y) = (bytes[a.lowerBound + index], bytes[b.lowerBound + index])
            if x != y { return x < y }
        }
        return false
    }

    /// The binary CID behind tag 42.
    mutating func link(tag: UInt64) throws(DecodingFailure) -> Range<Int> {
        guard tag == 42 else { throw failure("a tag other than 42") }
        let head = try head()
        guard head.kind == .bytes else { throw failure("tag 42 needs a byte string") }
        let link = try range(head.argument)
        guard link.count > 1, bytes[link.lowerBound] == 0 else { throw failure("a link that does not begin with 0x00") }
        let cid = link.lowerBound + 1..<link.upperBound
        guard CID.isLinkable(Span(_unsafeElements: slice(cid))) else {
            throw failure("a link that is not a CIDv1 of DAG-CBOR or raw bytes with a 32-byte digest")
        }
        return cid
    }

    // MARK: Passing over

    /// Moves behind the next item, looking at lengths alone.
    mutating func passOver() throws(DecodingFailure) {
        // A count instead of recursion: no nesting can exhaust the stack.
        var items: UInt64 = 1
        while items > 0 {
            items -= 1
            let head = try anyHead()
            switch head.kind {
            case .bytes, .text: _ = try range(head.argument)
            case .array: items += UInt64(try count(head.argument, width: 1))
            case .map: items += 2 * UInt64(try count(head.argument, width: 2))
            case .tag: items += 1
            case .unsigned, .negative, .simple: break
            }
            guard items <= UInt64(remaining) else { throw failure("more items than bytes remain") }
        }
    }
}
