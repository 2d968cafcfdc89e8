import Crypto
import Testing

@testable import ATProto

@Suite struct RepoExportTests {
    private let did = try! DID("did:plc:adaaaaaaaaaaaaaaaaaaaaaa")

    /// An export with `count` records, and its blocks.
    private func export(_ count: Int) throws -> (commit: SignedCommit, blocks: [MerkleSearchTree.Block]) {
        var blocks: [MerkleSearchTree.Block] = []
        var records: [String: CID] = [:]
        for index in 0..<count {
            let entry = ValueMap.Entry(key: "n", value: .integer(Int64(index)))
            let bytes = DAGCBOR.encode(.map(ValueMap([entry]) ?? ValueMap()))
            blocks.append((CID.dagCBOR(of: bytes), bytes))
            records["com.example.thing/k\(index)"] = CID.dagCBOR(of: bytes)
        }
        let tree = MerkleSearchTree(records)
        let commit = try SignedCommit(
            did: did, rev: TID("3mptbypluud2a"), data: tree.root, signedBy: PrivateKey.generate(.k256))
        return (commit, [(commit.cid, commit.block)] + tree.nodes + blocks)
    }

    @Test(arguments: [0, 1, 2, 100, 3000]) func everyRecordIsFoundUnderItsKey(count: Int) throws {
        let (commit, blocks) = try export(count)
        let read = try RepoExport(CAR.encode(roots: [commit.cid], blocks: blocks))
        #expect(read.commit == commit)
        let numbers = try read.entries.map { entry in (entry.rkey.description, try read.record(entry)["n"]?.integer) }
        #expect(numbers.count == count)
        #expect(numbers.allSatisfy { "k\($0.1 ?? -1)" == $0.0 })
    }

    @Test func aMissingOrChangedBlockIsRefused() throws {
        let (commit, blocks) = try export(50)
        for index in blocks.indices {
            var changed = blocks
            changed[index].bytes[0] ^= 1
            var missing = blocks
            missing.remove(at: index)
            for broken in [changed, missing] {
                #expect(throws: DecodingFailure.self) {
                    let read = try RepoExport(CAR.encode(roots: [commit.cid], blocks: broken))
                    for entry in read.entries { _ = try read.record(entry) }
                }
            }
        }
    }
}
