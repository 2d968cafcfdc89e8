import ATProto
import Crypto

/// The Merkle search tree over a repo's records, written out whole.
///
/// A key's layer is half the number of zero bits that its SHA-256 begins with; the root lies at the highest layer.
/// Source: atproto.com/specs/repository#mst-structure.
struct EveningTree {
    /// A record's place in the tree.
    struct Leaf {
        var path: [UInt8]
        var layer: Int
        var cid: CID

        init(path: String, cid: CID) {
            self.path = Array(path.utf8)
            layer = SHA256.hash(self.path).leadingZeroBits / 2
            self.cid = cid
        }
    }

    private(set) var root: CID
    /// From the root down, each node before what it links to.
    private(set) var blocks: [(cid: CID, bytes: [UInt8])] = []

    /// - Parameter leaves: in the order of their paths' bytes.
    init(_ leaves: [Leaf]) {
        let nothing = Self.encode(left: nil, entries: [])
        root = CID.dagCBOR(of: nothing)
        guard let top = leaves.map(\.layer).max() else {
            blocks = [(root, nothing)]
            return
        }
        root = add(leaves[...], layer: top) ?? root
        blocks.reverse()
    }

    /// Adds the node at `layer` over `leaves`, behind those below it; nil for no leaves.
    private mutating func add(_ leaves: ArraySlice<Leaf>, layer: Int) -> CID? {
        guard !leaves.isEmpty else { return nil }
        let own = leaves.indices.filter { leaves[$0].layer == layer }
        let left = add(leaves[..<(own.first ?? leaves.endIndex)], layer: layer - 1)
        var entries: [Value] = []
        var previous: [UInt8] = []
        for (order, index) in own.enumerated() {
            let end = order + 1 < own.count ? own[order + 1] : leaves.endIndex
            let right = add(leaves[(index + 1)..<end], layer: layer - 1)
            entries.append(Self.entry(leaves[index], after: previous, right: right))
            previous = leaves[index].path
        }
        let bytes = Self.encode(left: left, entries: entries)
        let cid = CID.dagCBOR(of: bytes)
        blocks.append((cid, bytes))
        return cid
    }

    /// Paths in a node leave out what they share with the one before.
    private static func entry(_ leaf: Leaf, after previous: [UInt8], right: CID?) -> Value {
        let shared = zip(previous, leaf.path).prefix { $0 == $1 }.count
        return RecordDraft.map([
            ("p", .integer(Int64(shared))), ("k", .bytes(Array(leaf.path.dropFirst(shared)))), ("v", .link(leaf.cid)),
            ("t", right.map(Value.link) ?? .null),
        ])
    }

    private static func encode(left: CID?, entries: [Value]) -> [UInt8] {
        DAGCBOR.encode(RecordDraft.map([("l", left.map(Value.link) ?? .null), ("e", .array(entries))]))
    }
}

extension [UInt8] {
    fileprivate var leadingZeroBits: Int {
        let zeros = prefix { $0 == 0 }.count
        return zeros * 8 + (zeros < count ? self[zeros].leadingZeroBitCount : 0)
    }
}
