import ATProto
import Crypto

/// A person's repo as its server keeps it: the records by path, and the commit that stands.
struct EveningRepo {
    /// A commit, and what a relay says of it.
    struct Change {
        var commit: SignedCommit
        var since: TID?
        var previousData: CID?
        /// A CAR: the signed commit, the nodes of the tree after it, the records of its ops.
        var archive: [UInt8]
        /// As `com.atproto.sync.subscribeRepos` has them.
        var ops: [Value]
    }

    private let did: DID
    private let key: PrivateKey
    private var records: [String: CID] = [:]
    private var head: SignedCommit?

    init(_ person: EveningPerson) {
        guard let did = try? DID(person.did), let key = try? PrivateKey(.k256, scalar: person.signingKey) else {
            preconditionFailure("the cast has a DID or a key that is none")
        }
        self.did = did
        self.key = key
    }

    /// Does what the commit says, and signs it.
    mutating func apply(_ commit: EveningCommit) -> Change {
        var ops: [Value] = []
        var shipped: [MerkleSearchTree.Block] = []
        for op in commit.ops {
            let block = RecordBlock(op)
            ops.append(perform(op, cid: block?.cid))
            if let block, let bytes = block.shippedBlock { shipped.append((block.cid, bytes)) }
        }
        let tree = MerkleSearchTree(records)
        guard let signed = try? SignedCommit(did: did, rev: commit.rev, data: tree.root, signedBy: key) else {
            preconditionFailure("a valid key does not sign")
        }
        defer { head = signed }
        let blocks = [(signed.cid, signed.block)] + tree.nodes + shipped
        return Change(
            commit: signed, since: head?.rev, previousData: head?.data,
            archive: CAR.encode(roots: [signed.cid], blocks: blocks), ops: ops)
    }

    /// Puts the record into its place, or takes it away; says so as an op.
    private mutating func perform(_ op: EveningOp, cid: CID?) -> Value {
        let previous = records[op.path]
        records[op.path] = cid
        return RecordDraft.map([
            ("action", .string(op.action.rawValue)), ("path", .string(op.path)),
            ("cid", cid.map(Value.link) ?? .null), ("prev", previous.map(Value.link)),
        ])
    }
}
