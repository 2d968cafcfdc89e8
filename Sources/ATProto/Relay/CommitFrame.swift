/// The body of a `#commit`: its ops, each with its record out of the CAR.
struct CommitFrame {
    private let fields: FrameFields
    private let frame: [UInt8]
    private let blocks: Range<Int>
    /// Opened when the first op wants a record.
    private var car: CAR?
    /// The bytes of records decoded so far. Many ops may name one block, so that a small frame could hold a huge commit.
    private var recordBytes = 0
    private var commit: Commit

    /// - Parameter frame: the bytes that the fields were read from.
    init(_ fields: FrameFields, frame: [UInt8]) throws(DecodingFailure) {
        self.fields = fields
        self.frame = frame
        blocks = try fields.bytes("blocks")
        commit = Commit(
            repo: try fields.did("repo"), rev: try fields.tid("rev"), seq: try fields.seq(),
            timeMicroseconds: try fields.time(), ops: [], dropped: [], ignoredOps: 0)
    }

    /// The commit with the ops of kept collections. A bad op is dropped alone; a CAR without structure spoils them all.
    mutating func read(keep: CollectionFilter) throws(DecodingFailure) -> Commit {
        guard var reader = fields.reader("ops") else { throw fields.failure("ops", "is missing") }
        let head = try reader.head()
        guard head.kind == .array else { throw fields.failure("ops", "is no array") }
        let count = try reader.count(head.argument, width: 1)
        guard count <= RelayFrame.maximumOps else {
            throw fields.failure("ops", "has \(count) items, more than \(RelayFrame.maximumOps)")
        }
        commit.ops.reserveCapacity(count)
        for _ in 0..<count {
            let start = reader.offset
            try reader.passOver()
            try add(CommitOp(reader.slice(start..<reader.offset)), keep)
        }
        return commit
    }

    private mutating func add(_ op: CommitOp, _ keep: CollectionFilter) throws(DecodingFailure) {
        // An op whose collection cannot be told counts as wanted, so that it is reported.
        if let collection = op.collection, !keep.contains(collection.description) {
            commit.ignoredOps += 1
            return
        }
        func drop(_ reason: DropReason, _ message: String) {
            commit.dropped.append(DroppedOp(path: op.path, reason: reason, message: message))
        }
        guard let action = op.action, let collection = op.collection, let rkey = op.rkey, op.problem == nil else {
            return drop(.malformedOp, op.problem ?? "incomplete")
        }
        guard let cid = op.cid else {
            return commit.ops.append(
                RecordOp(action: action, collection: collection, rkey: rkey, cid: nil, record: nil))
        }
        guard let block = try archive().range(of: cid) else {
            return drop(.missingBlock, "the CAR has no block \(cid)")
        }
        recordBytes += block.count
        guard block.count <= DataModel.maximumRecordSize, recordBytes <= RelayFrame.maximumSize else {
            return drop(.oversizedRecord, "a record of \(block.count) bytes, of \(recordBytes) in the commit")
        }
        switch record(cid, block) {
        case .success(let record):
            commit.ops.append(RecordOp(action: action, collection: collection, rkey: rkey, cid: cid, record: record))
        case .failure(let unusable):
            drop(unusable.reason, unusable.message)
        }
    }

    private mutating func archive() throws(DecodingFailure) -> CAR {
        if let car { return car }
        let opened = try CAR(frame, in: blocks)
        car = opened
        return opened
    }

    private struct Unusable: Error {
        var reason: DropReason
        var message: String
    }

    /// The record in a block of the frame, hashed against the CID that named it.
    private func record(_ cid: CID, _ range: Range<Int>) -> Result<Value, Unusable> {
        return frame.withUnsafeBufferPointer { buffer in
            let block = UnsafeBufferPointer(rebasing: buffer[range])
            guard cid.matches(UnsafeRawBufferPointer(block)) else {
                return .failure(Unusable(reason: .cidMismatch, message: "the record does not hash to its CID"))
            }
            do throws(DecodingFailure) {
                let value = try DAGCBOR.decode(block)
                // The rules that the protocol's JSON keeps too, so that a record fares alike from either source.
                if let fault = DataModel.fault(of: value) {
                    return .failure(Unusable(reason: .malformedRecord, message: fault))
                }
                return .success(value)
            } catch {
                return .failure(Unusable(reason: .malformedRecord, message: error.description))
            }
        }
    }
}
