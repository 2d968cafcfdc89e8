import ATProto
import Crypto

/// A person's repo as its server keeps it: the records by path, and the commit that stands.
struct EveningRepo {
    /// A commit, and what a relay says of it.
    struct Change {
        var did: String
        var rev: TID
        var since: TID?
        var commit: CID
        var previousData: CID?
        /// A CAR: the signed commit, the nodes of the tree after it, the records of its ops.
        var archive: [UInt8]
        /// As `com.atproto.sync.subscribeRepos` has them.
        var ops: [Value]
    }

    private let did: String
    private let key: PrivateKey
    /// In the order of their paths' bytes.
    private var leaves: [EveningTree.Leaf] = []
    private var rev: TID?
    private var data: CID?

    init(_ person: EveningPerson) {
        guard let key = try? PrivateKey(.k256, scalar: person.signingKey) else {
            preconditionFailure("the cast has a key that lies outside the curve's order")
        }
        did = person.did
        self.key = key
    }

    /// Does what the commit says, and signs it.
    mutating func apply(_ commit: EveningCommit) -> Change {
        let blocks = commit.ops.map { ($0, RecordBlock($0)) }
        let ops = blocks.map { op, block in perform(op, cid: block?.cid) }
        let tree = EveningTree(leaves)
        let signed = sign(data: tree.root, rev: commit.rev)
        let root = CID.dagCBOR(of: signed)
        let shipped = blocks.compactMap { _, block in
            block.flatMap { known in known.shippedBlock.map { (known.cid, $0) } }
        }
        let change = Change(
            did: did, rev: commit.rev, since: rev, commit: root, previousData: data,
            archive: CAR.encode(roots: [root], blocks: [(root, signed)] + tree.blocks + shipped), ops: ops)
        rev = commit.rev
        data = tree.root
        return change
    }

    /// The commit's block. Source: atproto.com/specs/repository#commit-objects.
    private func sign(data: CID, rev: TID) -> [UInt8] {
        let fields: [(String, Value?)] = [
            ("did", .string(did)), ("version", .integer(3)), ("data", .link(data)), ("rev", .string(rev.description)),
            ("prev", .null),
        ]
        guard let signature = try? key.sign(DAGCBOR.encode(RecordDraft.map(fields))) else {
            preconditionFailure("a valid key does not sign")
        }
        return DAGCBOR.encode(RecordDraft.map(fields + [("sig", .bytes(signature))]))
    }

    /// Puts the record into its place, or takes it away; says so as an op.
    private mutating func perform(_ op: EveningOp, cid: CID?) -> Value {
        let path = op.path
        let place = leaves.partitioningIndex { !$0.path.lexicographicallyPrecedes(path.utf8) }
        let stands = place < leaves.count && leaves[place].path.elementsEqual(path.utf8)
        let previous = stands ? leaves[place].cid : nil
        switch (cid, stands) {
        case (let cid?, true): leaves[place].cid = cid
        case (let cid?, false): leaves.insert(EveningTree.Leaf(path: path, cid: cid), at: place)
        case (nil, true): leaves.remove(at: place)
        case (nil, false): break
        }
        return RecordDraft.map([
            ("action", .string(op.action.rawValue)), ("path", .string(path)), ("cid", cid.map(Value.link) ?? .null),
            ("prev", previous.map(Value.link)),
        ])
    }
}

extension Array {
    /// Where the elements begin for which `belongsBehind` is true; they must come last.
    fileprivate func partitioningIndex(where belongsBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
