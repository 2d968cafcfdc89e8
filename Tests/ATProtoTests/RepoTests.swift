import Crypto
import Testing

@testable import ATProto

@Suite struct SignedCommitTests {
    static let data = CID.dagCBOR(of: [0xa0])

    @Test(arguments: Curve.allCases) func signsAndReadsBack(_ curve: Curve) throws {
        let key = try PrivateKey.generate(curve)
        let (did, rev) = (try DID("did:plc:7iza6de2dwap2sbkpav7c6c6"), try TID("3mptbypluud2a"))
        for prev in [nil, CID.dagCBOR(of: [1])] {
            let commit = try SignedCommit(did: did, rev: rev, data: Self.data, prev: prev, signedBy: key)
            let read = try SignedCommit(block: commit.block)
            #expect(read == commit)
            #expect(read.cid == CID.dagCBOR(of: commit.block))
            #expect(read.isSigned(by: key.publicKey))
            #expect(try !read.isSigned(by: PrivateKey.generate(curve).publicKey))
            #expect(try DAGCBOR.decode(commit.unsignedBlock)["prev"] == .some(prev.map(Value.link) ?? .null))
        }
    }

    @Test func aChangedCommitIsNotSigned() throws {
        let key = try PrivateKey.generate(.k256)
        let commit = try SignedCommit(
            did: try DID("did:plc:7iza6de2dwap2sbkpav7c6c6"), rev: try TID("3mptbypluud2a"), data: Self.data,
            signedBy: key)
        var entries = try #require(DAGCBOR.decode(commit.block).map).entries
        entries.append(.init(key: "extra", value: .null))
        let altered = DAGCBOR.encode(.map(try #require(ValueMap(entries))))
        #expect(try !SignedCommit(block: altered).isSigned(by: key.publicKey))
    }

    @Test(arguments: ["did", "rev", "data", "sig", "version"]) func refusesCommitsWithout(_ field: String) throws {
        let commit = try SignedCommit(
            did: try DID("did:plc:7iza6de2dwap2sbkpav7c6c6"), rev: try TID("3mptbypluud2a"), data: Self.data,
            signedBy: .generate(.k256))
        let entries = try #require(DAGCBOR.decode(commit.block).map).entries.filter { $0.key != field }
        #expect(throws: DecodingFailure.self) {
            try SignedCommit(block: DAGCBOR.encode(.map(ValueMap(canonical: entries))))
        }
    }
}

/// Layers and roots as the protocol's other implementations have them.
@Suite struct MerkleSearchTreeTests {
    @Test(arguments: [
        ("", 0), ("asdf", 0), ("blue", 1), ("2653ae71", 0), ("88bfafc7", 2), ("2a92d355", 4), ("884976f5", 6),
        ("app.bsky.feed.post/454397e440ec", 4), ("app.bsky.feed.post/9adeb165882c", 8),
    ])
    func layersOfKeys(_ key: String, _ layer: Int) {
        #expect(MerkleSearchTree.layer(of: key) == layer)
    }

    @Test(
        arguments: [
            ([], "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm"),
            (["3jqfcqzm3fo2j"], "bafyreibj4lsc3aqnrvphp5xmrnfoorvru4wynt6lwidqbm2623a6tatzdu"),
            (["3jqfcqzm3fx2j"], "bafyreih7wfei65pxzhauoibu3ls7jgmkju4bspy4t2ha2qdjnzqvoy33ai"),
            (
                ["3jqfcqzm3fp2j", "3jqfcqzm3fr2j", "3jqfcqzm3fs2j", "3jqfcqzm3ft2j", "3jqfcqzm4fc2j"],
                "bafyreicmahysq4n6wfuxo522m6dpiy7z7qzym3dzs756t5n7nfdgccwq7m"
            ),
        ] as [([String], String)])
    func roots(_ rkeys: [String], _ root: String) throws {
        let cid = try CID("bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454")
        let tree = MerkleSearchTree(Dictionary(uniqueKeysWithValues: rkeys.map { ("com.example.record/" + $0, cid) }))
        #expect(tree.root.description == root)
        #expect(tree.nodes.first?.cid == tree.root)
    }

    @Test func everyKeyIsFoundFromTheRoot() throws {
        var records: [String: CID] = [:]
        for number in 0..<1000 { records["com.example.record/k\(number)"] = CID.dagCBOR(of: [UInt8(number % 24)]) }
        let tree = MerkleSearchTree(records)
        let blocks = Dictionary(uniqueKeysWithValues: tree.nodes.map { ($0.cid, $0.bytes) })
        #expect(blocks.allSatisfy { $0.key.matches($0.value) })

        var keys: [String] = []
        func walk(_ link: Value?, _ layer: Int) throws {
            guard let cid = link?.link else { return }
            let node = try DAGCBOR.decode(try #require(blocks[cid]))
            try walk(node["l"], layer - 1)
            var previous: [UInt8] = []
            for entry in try #require(node["e"]?.array) {
                let shared = Int(try #require(entry["p"]?.integer))
                previous = Array(previous[..<shared]) + (try #require(entry["k"]?.bytes))
                let key = String(decoding: previous, as: UTF8.self)
                #expect(MerkleSearchTree.layer(of: key) == layer)
                #expect(records[key] == entry["v"]?.link)
                keys.append(key)
                try walk(entry["t"], layer - 1)
            }
        }
        try walk(.link(tree.root), records.keys.map(MerkleSearchTree.layer).max() ?? 0)
        #expect(keys == records.keys.sorted())
    }
}

@Suite(.enabled(if: SharedCorpus.isPresent, "the shared corpus is absent")) struct RepoCorpusTests {
    /// The signing keys in the authors' DID documents.
    static func keys() throws -> [String: PublicKey] {
        let documents = try JSON.decode(SharedCorpus.bytes("did_docs.json"))
        var keys: [String: PublicKey] = [:]
        for entry in try #require(documents.map).entries {
            let methods = try #require(entry.value["verificationMethod"]?.array)
            let method = methods.first { $0["id"]?.string?.hasSuffix("#atproto") == true }
            keys[entry.key] = try PublicKey(multikey: try #require(method?["publicKeyMultibase"]?.string))
        }
        return keys
    }

    @Test func realCommitsAreSignedByTheirAuthors() throws {
        let keys = try Self.keys()
        var verified = 0
        for frame in try RelayFrameCorpusTests.frames() {
            let header = try DAGCBOR.itemLength(in: frame, at: 0)
            let body = try DAGCBOR.decode(Array(frame[header...]))
            guard let root = body["commit"]?.link, let blocks = body["blocks"]?.bytes else { continue }
            let car = try CAR(blocks)
            #expect(car.roots == [root])
            let commit = try SignedCommit(block: Array(try #require(car.block(root))))
            #expect(commit.did.description == body["repo"]?.string)
            #expect(commit.rev.description == body["rev"]?.string)
            #expect(car.block(commit.data) != nil)
            #expect(commit.isSigned(by: try #require(keys[commit.did.description])))
            verified += 1
        }
        #expect(verified == 148)
    }
}
