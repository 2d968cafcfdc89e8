/// A whole repo as its host exports it: a CAR with the signed commit, the tree's nodes and the records.
///
/// Every block is hashed against the CID that led to it. Source: atproto.com/specs/repository#car-file-serialization.
public struct RepoExport: Sendable {
    public let commit: SignedCommit
    /// Every record of the tree, in the order of its keys.
    public let entries: [Entry]
    private let archive: CAR

    public struct Entry: Sendable {
        public var collection: NSID
        public var rkey: RecordKey
        public var cid: CID
    }

    /// Reads the commit and the tree; records are decoded one by one, with `record(_:)`.
    public init(_ bytes: [UInt8]) throws(DecodingFailure) {
        archive = try CAR(bytes)
        guard let root = archive.roots.first else { throw DecodingFailure("the archive names no root") }
        commit = try SignedCommit(block: Array(Self.block(root, in: archive)))
        var walk = Walk(archive: archive)
        try walk.visit(commit.data, depth: 0)
        entries = walk.entries
    }

    /// The record of an entry, hashed against its CID.
    public func record(_ entry: Entry) throws(DecodingFailure) -> Value {
        let block = try Self.block(entry.cid, in: archive)
        guard block.count <= DataModel.maximumRecordSize else {
            throw DecodingFailure("a record of \(block.count) bytes")
        }
        let value = try DAGCBOR.decode(Array(block))
        guard case .map = value else { throw DecodingFailure("a record must be a map") }
        return value
    }

    private static func block(_ cid: CID, in archive: CAR) throws(DecodingFailure) -> ArraySlice<UInt8> {
        guard let block = archive.block(cid) else { throw DecodingFailure("the archive has no block \(cid)") }
        guard cid.matches(Array(block)) else { throw DecodingFailure("the block \(cid) does not hash to its CID") }
        return block
    }

    /// Goes through the tree in the order of its keys.
    private struct Walk {
        /// Layers of a tree; a key of layer 64 would need 128 zero bits in its hash.
        static let maximumDepth = 64

        let archive: CAR
        var entries: [Entry] = []
        private var last: [UInt8] = []
        private var visited = 0

        init(archive: CAR) { self.archive = archive }

        mutating func visit(_ cid: CID, depth: Int) throws(DecodingFailure) {
            visited += 1
            // A tree visits each node once; more visits than blocks are a tree that holds itself.
            guard depth < Self.maximumDepth, visited <= archive.count else {
                throw DecodingFailure("the tree of records has no end")
            }
            let node = try DAGCBOR.decode(Array(try RepoExport.block(cid, in: archive)))
            guard let items = node["e"]?.array, let left = node["l"] else {
                throw DecodingFailure("a node without entries: \(cid)")
            }
            try visit(link: left, depth: depth)
            var key: [UInt8] = []
            for item in items {
                guard let shared = item["p"]?.integer, let rest = item["k"]?.bytes, let value = item["v"]?.link,
                    let right = item["t"], shared >= 0, shared <= key.count
                else { throw DecodingFailure("a malformed entry in the node \(cid)") }
                key = Array(key.prefix(Int(shared))) + rest
                try add(key, value)
                try visit(link: right, depth: depth)
            }
        }

        private mutating func visit(link: Value, depth: Int) throws(DecodingFailure) {
            if let cid = link.link {
                try visit(cid, depth: depth + 1)
            } else if !link.isNull {
                throw DecodingFailure("a subtree that is no link")
            }
        }

        private mutating func add(_ key: [UInt8], _ value: CID) throws(DecodingFailure) {
            guard entries.isEmpty || last.lexicographicallyPrecedes(key) else {
                throw DecodingFailure("the tree's keys are not in order")
            }
            last = key
            let parts = String(decoding: key, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let collection = try? NSID(String(parts[0])),
                let rkey = try? RecordKey(String(parts[1]))
            else { throw DecodingFailure("a key that is not collection/rkey") }
            entries.append(Entry(collection: collection, rkey: rkey, cid: value))
        }
    }
}
