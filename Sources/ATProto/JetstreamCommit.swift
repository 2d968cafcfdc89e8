/// The `commit` of a Jetstream line: one op, as the line wrote it.
///
/// A field of a wrong type is nil, so that it costs the op and not the line.
struct JetstreamCommit {
    private(set) var rev: String?
    private var operation: String?
    private var collection: String?
    private var rkey: String?
    private var cid: String?
    private var record = Record.absent
    private var seen: UInt8 = 0

    private enum Record {
        case absent
        /// Passed over; starts at this byte.
        case unread(at: Int)
        case read(Value)
        case unusable(JSONReader.Fault)
    }

    /// Why an op is dropped.
    struct Unusable: Error {
        var reason: DropReason
        var message: String
    }

    /// Reads the object that comes next; its record only when it is known by then to be wanted.
    init(_ reader: inout JSONReader, keep: CollectionFilter) throws(JSONReader.Fault) {
        guard reader.take(UInt8(ascii: "{")) else { throw reader.fault(.model, "commit must be an object") }
        if reader.take(UInt8(ascii: "}")) { return }
        repeat {
            let key = try reader.key()
            reader.skipWhitespace()
            try field(key, &reader, keep)
        } while reader.take(UInt8(ascii: ","))
        try reader.expect(UInt8(ascii: "}"), "a comma or the object's end is missing")
    }

    private mutating func field(
        _ key: String, _ reader: inout JSONReader, _ keep: CollectionFilter
    ) throws(JSONReader.Fault) {
        switch key {
        case "rev": rev = try text(1, &reader)
        case "operation": operation = try text(2, &reader)
        case "collection": collection = try text(4, &reader)
        case "rkey": rkey = try text(8, &reader)
        case "cid": cid = try text(16, &reader)
        case "record":
            try once(32, reader)
            if operation == "create" || operation == "update", isKept(keep) {
                record = try Self.readRecord(&reader)
            } else {
                record = .unread(at: reader.position)
                try reader.skipValue()
            }
        default: try reader.skipValue()
        }
    }

    private mutating func once(_ bit: UInt8, _ reader: JSONReader) throws(JSONReader.Fault) {
        guard seen & bit == 0 else { throw reader.fault(.model, "a duplicate key") }
        seen |= bit
    }

    /// The string that comes next; nil when it is something else, or no text.
    private mutating func text(_ bit: UInt8, _ reader: inout JSONReader) throws(JSONReader.Fault) -> String? {
        try once(bit, reader)
        let start = reader.position
        do {
            if reader.next == UInt8(ascii: "\"") { return try reader.string() }
        } catch {
            guard error.kind == .model else { throw error }
            reader.position = start
        }
        try reader.skipValue()
        return nil
    }

    /// A record that is JSON but no value of the data model is passed over.
    private static func readRecord(_ reader: inout JSONReader) throws(JSONReader.Fault) -> Record {
        let start = reader.position
        do {
            return .read(try reader.value(depth: JSON.maximumDepth))
        } catch {
            guard error.kind != .grammar else { throw error }
            reader.position = start
            try reader.skipValue()
            return .unusable(error)
        }
    }

    // MARK: The op

    /// `collection/rkey` as the line wrote them.
    var path: String { "\(collection ?? "?")/\(rkey ?? "?")" }

    /// Whether the op's collection is wanted; one that cannot be told counts as wanted, so that it is reported.
    func isKept(_ keep: CollectionFilter) -> Bool { collection.map(keep.contains) ?? true }

    /// The op, its record hashed again against its CID.
    mutating func op(_ reader: inout JSONReader) throws(JSONReader.Fault) -> Result<RecordOp, Unusable> {
        if case .unread(let start) = record, operation == "create" || operation == "update" {
            reader.position = start
            record = try Self.readRecord(&reader)
        }
        do { return .success(try checkedOp()) } catch { return .failure(error) }
    }

    private func checkedOp() throws(Unusable) -> RecordOp {
        guard let action = operation.flatMap(Action.init(rawValue:)) else { throw malformed("an unknown operation") }
        guard let collection = collection.flatMap({ try? NSID($0) }) else { throw malformed("collection is no NSID") }
        guard let rkey = rkey.flatMap({ try? RecordKey($0) }) else { throw malformed("rkey is no record key") }
        guard action != .delete else {
            return RecordOp(action: action, collection: collection, rkey: rkey, cid: nil, record: nil)
        }
        guard let cid = cid.flatMap({ try? CID($0) }) else { throw malformed("cid is no CID") }
        let value: Value
        switch record {
        case .read(let read): value = read
        case .unusable(let fault):
            let reason: DropReason = fault.kind == .size ? .oversizedRecord : .malformedRecord
            throw Unusable(reason: reason, message: DecodingFailure(fault).description)
        case .absent, .unread: throw malformed("no record")
        }
        guard case .map = value else { throw Unusable(reason: .malformedRecord, message: "a record must be an object") }
        let block = DAGCBOR.encode(value)
        guard block.count <= DataModel.maximumRecordSize else {
            throw Unusable(reason: .oversizedRecord, message: "a record of \(block.count) bytes")
        }
        guard CID.dagCBOR(of: block) == cid else {
            throw Unusable(reason: .cidMismatch, message: "the record does not hash to its CID")
        }
        return RecordOp(action: action, collection: collection, rkey: rkey, cid: cid, record: value)
    }

    private func malformed(_ message: String) -> Unusable { Unusable(reason: .malformedOp, message: message) }
}
