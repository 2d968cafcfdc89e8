/// A connection's table of fields that requests share, as the peer's decoder has it: each is written whole once, and is a
/// number from then on. Source: RFC 7541 §2.3, §4, §6.
///
/// nghttp2 is given no field to put there, so that the order of the entries is known here.
struct HeaderTable {
    private static let literalWithIndexing: UInt8 = 0x40
    private static let literalWithoutIndexing: UInt8 = 0x00
    private static let indexed: UInt8 = 0x80

    /// The latest comes last, and has the lowest number.
    private var entries: [HeaderField] = []
    private var size = 0
    private var limit = HPACK.defaultTableSize
    /// The fields that were asked for last, as long as all of them are in the table and nothing has changed there.
    private var last: (headers: PreparedHeaders, block: [UInt8])?

    /// The fields of `headers` that the table may hold, for the next block that goes out.
    mutating func block(of headers: PreparedHeaders) -> [UInt8] {
        if let last, last.headers === headers { return last.block }
        var block: [UInt8] = []
        var isAllKnown = true
        for field in headers.fields where !appendKnown(field, to: &block) {
            isAllKnown = false
            appendLiteral(field, to: &block)
        }
        last = isAllKnown ? (headers, block) : nil
        return block
    }

    /// The peer has been told of another size, in front of the next block's fields.
    mutating func resize(to limit: Int) {
        self.limit = limit
        last = nil
        makeRoom(for: 0)
    }

    /// Appends the field's number, if it has one.
    private func appendKnown(_ field: HeaderField, to block: inout [UInt8]) -> Bool {
        var index = StaticTable.index(of: field)
        if index == nil, let place = entries.lastIndex(where: { $0.name == field.name && $0.value == field.value }) {
            index = HPACK.firstDynamicIndex + entries.count - 1 - place
        }
        guard let index else { return false }
        HPACK.append(index, prefix: 7, flags: Self.indexed, to: &block)
        return true
    }

    /// Appends the field, and puts it into the table unless it is too large for it.
    private mutating func appendLiteral(_ field: HeaderField, to block: inout [UInt8]) {
        let count = field.name.count + field.value.count + HPACK.entryOverhead
        let name = StaticTable.index(ofName: field.name)
        if count <= limit {
            HPACK.append(name, prefix: 6, flags: Self.literalWithIndexing, to: &block)
            makeRoom(for: count)
            entries.append(field)
            size += count
            last = nil
        } else {
            HPACK.append(name, prefix: 4, flags: Self.literalWithoutIndexing, to: &block)
        }
        if name == 0 { HPACK.append(field.name, to: &block) }
        HPACK.append(field.value, to: &block)
    }

    /// Drops the oldest entries.
    private mutating func makeRoom(for count: Int) {
        var dropped = 0
        while size + count > limit, dropped < entries.count {
            size -= entries[dropped].name.count + entries[dropped].value.count + HPACK.entryOverhead
            dropped += 1
        }
        if dropped > 0 { entries.removeFirst(dropped) }
    }
}

/// The fields of HPACK's static table that a request over TLS begins with. Source: RFC 7541, Appendix A.
private enum StaticTable {
    private static let fields: [(index: Int, field: HeaderField)] = [
        (2, HeaderField(":method", "GET")), (3, HeaderField(":method", "POST")), (7, HeaderField(":scheme", "https")),
    ]
    private static let names: [(index: Int, name: [UInt8])] = [
        (1, Array(":authority".utf8)), (2, Array(":method".utf8)), (6, Array(":scheme".utf8)),
    ]

    static func index(of field: HeaderField) -> Int? {
        fields.first { $0.field.name == field.name && $0.field.value == field.value }?.index
    }

    /// 0 when it has no number.
    static func index(ofName name: [UInt8]) -> Int { names.first { $0.name == name }?.index ?? 0 }
}
