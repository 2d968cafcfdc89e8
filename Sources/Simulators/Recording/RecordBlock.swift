import ATProto

/// A record as bytes, with what is wrong with it made real.
struct RecordBlock {
    /// The CID that the commit names.
    let cid: CID
    /// The DAG-CBOR that `cid` is the hash of.
    let block: [UInt8]
    /// The record that arrives, before `breakText`; nil when none does.
    let shippedValue: Value?
    private let fault: EveningOp.Fault?

    /// nil for a delete.
    init?(_ op: EveningOp) {
        guard let record = op.record else { return nil }
        fault = op.fault
        var block = DAGCBOR.encode(record)
        switch op.fault {
        case .float: Self.replace(Self.integerBytes, by: Self.floatBytes, in: &block, from: 0)
        case .loneSurrogate: Self.replace(Self.brokenText, by: Self.surrogateBytes, in: &block, from: 0)
        case .invalid, .otherContent, .missing, nil: break
        }
        self.block = block
        cid = .dagCBOR(of: block)
        shippedValue =
            switch op.fault {
            case .otherContent: Self.otherContent(of: record)
            case .missing: nil
            default: record
            }
    }

    /// The block that arrives; nil when none does.
    var shippedBlock: [UInt8]? {
        switch fault {
        case .missing: nil
        case .otherContent: shippedValue.map(DAGCBOR.encode)
        default: block
        }
    }

    /// Puts into the JSON of the record, which begins at `start`, what no `Value` can hold.
    func breakText(in json: inout [UInt8], from start: Int) {
        switch fault {
        case .float: Self.replace(Array("\(EveningOp.floatMarker)".utf8), by: Array("1.5".utf8), in: &json, from: start)
        case .loneSurrogate:
            Self.replace(Self.brokenText, by: Array(#"\ud83d"#.utf8), in: &json, from: start)
            Self.replace(Array(#"\ufffd"#.utf8), by: Array(#"\ud83d"#.utf8), in: &json, from: start)
        case .invalid, .otherContent, .missing, nil: break
        }
    }

    /// `floatMarker` as DAG-CBOR has it: a head, and eight bytes.
    private static let integerBytes = DAGCBOR.encode(.integer(EveningOp.floatMarker))
    /// 1.5 in as many bytes.
    private static let floatBytes: [UInt8] = [0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]
    private static let brokenText = Array(EveningOp.brokenTextMarker.utf8)
    /// What a careless encoder makes of half a surrogate pair, in as many bytes.
    private static let surrogateBytes: [UInt8] = [0xed, 0xa0, 0xbd]

    private static func otherContent(of record: Value) -> Value {
        guard let map = record.map else { return record }
        return RecordDraft.map(
            map.entries.map { ($0.key, $0.key == "createdAt" ? .string("2026-07-04T00:00:00.000Z") : $0.value) })
    }

    /// Replaces the first occurrence at or after `start`, if there is one.
    private static func replace(_ old: [UInt8], by new: [UInt8], in bytes: inout [UInt8], from start: Int) {
        guard bytes.count >= start + old.count else { return }
        for index in start...bytes.count - old.count where bytes[index..<index + old.count].elementsEqual(old) {
            return bytes.replaceSubrange(index..<index + old.count, with: new)
        }
    }
}
