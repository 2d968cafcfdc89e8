import ATProto
import Crypto
import HookKit
import TestSupport
import Testing

@testable import Indexer

@Suite struct BackfillTests {
    private let ada = JetstreamWriter.did("ada")

    @Test func aRepoExportBecomesRowsAndTellsNoHook() async throws {
        let stage = try Stage()
        let record: Value = ["$type": "com.example.post", "text": "old"]
        let block = DAGCBOR.encode(record)
        let tree = MerkleSearchTree([
            "com.example.post/a": CID.dagCBOR(of: block), "com.example.other/b": CID.dagCBOR(of: block),
        ])
        let commit = try SignedCommit(
            did: DID(ada), rev: TID("3mptbypluud2a"), data: tree.root, signedBy: PrivateKey.generate(.k256))
        let car = CAR.encode(
            roots: [commit.cid],
            blocks: [(commit.cid, commit.block), (CID.dagCBOR(of: block), block)] + tree.nodes)

        let indexer = try stage.indexer(hooks: [stage.recorder])
        try await indexer.replay(try Recording(path: stage.scratch.file("repo.car", car)))
        try await indexer.drainHooks()
        #expect(try stage.rows().map(\.text) == ["old"])
        #expect(indexer.summary.created == 1)
        #expect(indexer.summary.skipped == ["not-kept": 1])
        #expect(indexer.summary.hookRuns == 0)
        #expect(stage.seen(by: ada).isEmpty)
    }
}
