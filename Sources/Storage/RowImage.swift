import ATProto

/// The values of one row, its texts in one piece of memory: it is bound without copying and freed at once.
struct RowImage: Sendable {
    /// What a lexicon's column holds; texts and blobs by their place in `bytes`.
    enum Cell {
        case null
        case integer(Int64)
        case real(Double)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    private(set) var bytes: [UInt8] = []
    let uri: Range<Int>
    let did: Range<Int>
    let rkey: Range<Int>
    let rev: Range<Int>
    /// Empty when there is none.
    let cid: Range<Int>
    let json: Range<Int>
    /// Those of the lexicon, in order.
    let cells: [Cell]

    init(
        collection: String, did: String, rkey: String, rev: String, cid: String?, json: [UInt8],
        columns: [ColumnValue]
    ) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size(collection, did, rkey, rev, cid, json, columns))
        func place(_ utf8: some Collection<UInt8>) -> Range<Int> {
            let start = bytes.count
            bytes.append(contentsOf: utf8)
            return start..<bytes.count
        }
        _ = place("at://".utf8)
        self.did = place(did.utf8)
        _ = place("/".utf8)
        _ = place(collection.utf8)
        _ = place("/".utf8)
        self.rkey = place(rkey.utf8)
        uri = 0..<bytes.count
        self.rev = place(rev.utf8)
        self.cid = place((cid ?? "").utf8)
        self.json = place(json)
        cells = columns.map { column in
            switch column {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(place(value.utf8))
            case .blob(let value): .blob(place(value))
            }
        }
        self.bytes = bytes
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private static func size(
        _ collection: String, _ did: String, _ rkey: String, _ rev: String, _ cid: String?, _ json: [UInt8],
        _ columns: [ColumnValue]
    ) -> Int {
        let fixed = 7 + collection.utf8.count + did.utf8.count + rkey.utf8.count + rev.utf8.count
        return columns.reduce(fixed + (cid?.utf8.count ?? 0) + json.count) { size, column in
            switch column {
            case .text(let value): size + value.utf8.count
            case .blob(let value): size + value.count
            default: size
            }
        }
    }
}
