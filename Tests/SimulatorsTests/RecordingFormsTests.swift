import ATProto
import Crypto
import Testing

@testable import Simulators

/// Both forms of an evening, read back.
@Suite struct RecordingFormsTests {
    private let evening = GrainEvening(seed: 11, events: 450)

    @Test func bothTellTheSameEvening() throws {
        let lines = readLines(evening.jetstream())
        let frames = readFrames(evening.frames())
        let outcome = evening.expectations
        #expect(lines.count == outcome.ops + outcome.identities + outcome.accounts + outcome.unreadable)
        #expect(frames.count == evening.events)
        #expect(lines.count { $0 == nil } >= outcome.unreadable)
        #expect(frames.count { $0 == nil } == outcome.unreadable)

        let fromLines = lines.compactMap { $0 }.flatMap(told)
        let fromFrames = frames.compactMap { $0 }.flatMap(told)
        #expect(fromLines.count > 400)
        #expect(fromLines == fromFrames)
    }

    @Test func bothLeadToTheExpectedRecords() {
        for events in [readLines(evening.jetstream()), readFrames(evening.frames())] {
            var records: [String: (rev: TID, record: Value?)] = [:]
            for case .commit(let commit)? in events {
                for op in commit.ops {
                    let uri = "at://\(commit.repo)/\(op.collection)/\(op.rkey)"
                    if let known = records[uri], known.rev >= commit.rev { continue }
                    records[uri] = (commit.rev, op.record)
                }
            }
            for (collection, expected) in evening.expectations.records {
                for (uri, record) in expected { #expect(records[uri]?.record == record, "\(collection)") }
            }
        }
    }

    /// An op that cannot be used costs itself, not its siblings.
    @Test func faultyRecordsAreDropped() {
        let outcome = evening.expectations
        var (dropped, withSiblings) = (0, 0)
        for case .commit(let commit)? in readFrames(evening.frames()) {
            dropped += commit.dropped.count
            if !commit.dropped.isEmpty, !commit.ops.isEmpty { withSiblings += 1 }
            #expect(Set(commit.dropped.map(\.reason)).isSubset(of: [.cidMismatch, .malformedRecord, .missingBlock]))
        }
        #expect(dropped == outcome.faultyRecords)
        #expect(withSiblings > 0)
    }

    @Test func commitsAreSignedAndTheirTreesHoldTheirRecords() throws {
        let keys = try Dictionary(
            uniqueKeysWithValues: evening.people.map { person in
                (person.did, try PrivateKey(.k256, scalar: person.signingKey).publicKey)
            })
        var (heads, checked): ([String: (rev: TID, data: CID)], Int) = ([:], 0)
        for frame in split(evening.frames()) {
            guard let body = commitBody(frame), let did = body["repo"]?.string else { continue }
            let blocks = try #require(body["blocks"]?.bytes)
            let archive = try CAR(blocks)
            let root = try #require(body["commit"]?.link)
            #expect(archive.roots == [root])
            let block = try #require(archive.block(root))
            let commit = try SignedCommit(block: Array(block))
            #expect(commit.cid == root && commit.did.description == did && commit.prev == nil)
            let key = try #require(keys[did])
            #expect(commit.isSigned(by: key))
            let (rev, data) = (commit.rev, commit.data)
            #expect(body["rev"]?.string == rev.description)
            // A redelivered commit is none on top of the latest.
            if heads[did].map({ $0.rev < rev }) ?? true {
                #expect(body["since"]?.string == heads[did]?.rev.description)
                #expect(body["prevData"]?.link == heads[did]?.data)
                heads[did] = (rev, data)
            }
            var leaves: [String: CID] = [:]
            try collect(data, from: archive, into: &leaves)
            for op in try #require(body["ops"]?.array) {
                let path = try #require(op["path"]?.string)
                #expect(leaves[path] == op["cid"]?.link)
            }
            checked += 1
        }
        let outcome = evening.expectations
        #expect(checked == outcome.commits)
    }

    /// Walks the tree under `node`: every node hashes to its CID, and the keys come in order.
    private func collect(_ node: CID, from archive: CAR, into leaves: inout [String: CID]) throws {
        let block = Array(try #require(archive.block(node)))
        #expect(node.matches(block))
        let value = try DAGCBOR.decode(block)
        if let left = value["l"]?.link { try collect(left, from: archive, into: &leaves) }
        var key: [UInt8] = []
        for entry in try #require(value["e"]?.array) {
            let shared = Int(try #require(entry["p"]?.integer))
            let next = Array(key.prefix(shared)) + (try #require(entry["k"]?.bytes))
            #expect(key.lexicographicallyPrecedes(next))
            key = next
            leaves[String(decoding: key, as: UTF8.self)] = try #require(entry["v"]?.link)
            if let right = entry["t"]?.link { try collect(right, from: archive, into: &leaves) }
        }
    }

    /// nil for a frame that is no commit, or cannot be read.
    private func commitBody(_ frame: [UInt8]) -> Value? {
        guard let length = try? DAGCBOR.itemLength(in: frame, at: 0),
            let header = try? DAGCBOR.decode(Array(frame[..<length])), header["t"]?.string == "#commit"
        else { return nil }
        return try? DAGCBOR.decode(Array(frame[length...]))
    }
}

// MARK: Reading

private func readLines(_ recording: [UInt8]) -> [Event?] {
    recording.split(separator: 0x0a).map { try? JetstreamLine.decode(Array($0), keep: .everything) }
}

private func readFrames(_ recording: [UInt8]) -> [Event?] {
    split(recording).map { try? RelayFrame.decode($0, keep: .everything) }
}

private func split(_ recording: [UInt8]) -> [[UInt8]] {
    var (frames, offset): ([[UInt8]], Int) = ([], 0)
    while offset + 4 <= recording.count {
        let length = recording[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
        frames.append(Array(recording[offset + 4..<offset + 4 + length]))
        offset += 4 + length
    }
    return frames
}

/// What an event says, op by op, without what only one of the forms has.
private func told(_ event: Event) -> [String] {
    switch event {
    case .commit(let commit):
        commit.ops.map { op in
            let record = op.record.map { String(decoding: JSON.encode($0), as: UTF8.self) } ?? "-"
            return "\(commit.repo) \(commit.rev) \(op.action) \(op.collection)/\(op.rkey) "
                + "\(op.cid?.description ?? "-") \(record)"
        }
    case .identity(let update): ["identity \(update.did) \(update.handle?.description ?? "-")"]
    case .account(let update): ["account \(update.did) \(update.active) \(update.status ?? "-")"]
    case .sync, .info, .error: ["unexpected"]
    }
}
