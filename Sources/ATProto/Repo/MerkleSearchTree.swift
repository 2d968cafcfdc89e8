import Crypto

/// The tree in which a repo keeps its records, built whole from its keys and CIDs.
///
/// The same records give the same tree, however they came: a key's layer is a matter of its hash, and each node is a
/// block of DAG-CBOR. Source: atproto.com/specs/repository#mst-structure.
public struct MerkleSearchTree: Sendable {
    public typealias Block = (cid: CID, bytes: [UInt8])

    /// The CID of the root node, a commit's `data`.
    public let root: CID
    /// Every node, the root first, each before its subtrees.
    public let nodes: [Block]

    /// - Parameter records: the CID of each record by its path, `collection/rkey`.
    public init(_ records: [String: CID]) {
        let entries = records.map { Entry(key: Array($0.key.utf8), value: $0.value) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        var builder = Builder()
        root = builder.node(entries[...], layer: entries.map(\.layer).max() ?? 0)
        nodes = builder.nodes
    }

    /// The layer of a key: how many pairs of zero bits its SHA-256 begins with. Most keys lie in layer 0, the lowest.
    public static func layer(of key: String) -> Int { layer(of: Array(key.utf8)) }

    private static func layer(of key: [UInt8]) -> Int {
        var zeros = 0
        for byte in SHA256.hash(key) {
            zeros += byte.leadingZeroBitCount
            if byte != 0 { break }
        }
        return zeros / 2
    }

    private struct Entry {
        var key: [UInt8]
        var value: CID
        var layer: Int

        init(key: [UInt8], value: CID) {
            self.key = key
            self.value = value
            layer = MerkleSearchTree.layer(of: key)
        }
    }

    private struct Builder {
        var nodes: [Block] = []

        /// Adds the node of `layer` that holds `entries`, none of them of a higher layer, and its subtrees.
        mutating func node(_ entries: ArraySlice<Entry>, layer: Int) -> CID {
            let place = nodes.count
            // The node's own place, taken before its subtrees have theirs.
            nodes.append((CID(checked: []), []))
            var rest = entries
            let left = subtree(&rest, below: layer)
            var items: [Value] = []
            var previous: [UInt8] = []
            while let entry = rest.popFirst() {
                let shared = zip(previous, entry.key).prefix { $0 == $1 }.count
                previous = entry.key
                items.append(
                    .map(
                        ValueMap(canonical: [
                            ValueMap.Entry(key: "k", value: .bytes(Array(entry.key[shared...]))),
                            ValueMap.Entry(key: "p", value: .integer(Int64(shared))),
                            ValueMap.Entry(key: "t", value: subtree(&rest, below: layer)),
                            ValueMap.Entry(key: "v", value: .link(entry.value)),
                        ])))
            }
            let node = ValueMap(canonical: [
                ValueMap.Entry(key: "e", value: .array(items)), ValueMap.Entry(key: "l", value: left),
            ])
            let bytes = DAGCBOR.encode(.map(node))
            nodes[place] = (CID.dagCBOR(of: bytes), bytes)
            return nodes[place].cid
        }

        /// The link to the subtree of the entries up to the next one of `layer`, which are taken away; null for none.
        private mutating func subtree(_ entries: inout ArraySlice<Entry>, below layer: Int) -> Value {
            let lower = entries.prefix { $0.layer < layer }
            guard !lower.isEmpty else { return .null }
            entries = entries.dropFirst(lower.count)
            // A layer with no key of its own still has a node, which links on downwards.
            return .link(node(lower, layer: layer - 1))
        }
    }
}
