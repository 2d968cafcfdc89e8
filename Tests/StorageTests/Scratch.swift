@testable import ATProto
import Foundation

@testable import Storage

/// A directory of its own for one test, removed with it.
final class Scratch: Sendable {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "hark-storage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var path: String { directory.appending(path: "test.db").path }

    func open(claimingRunner: Bool = false) throws -> Database {
        try Database(path: path, claimingRunner: claimingRunner)
    }
}

typealias Property = RecordDefinition.Property

/// Collections with the properties that a test gives them.
func makeSchema(_ definitions: [String: [Property]] = [:], kept: [String] = ["*"]) -> RecordSchema {
    RecordSchema(definitions: definitions, kept: CollectionFilter(kept))
}

func map(_ pairs: KeyValuePairs<String, Value>) -> Value {
    .map(ValueMap(pairs.map { .init(key: $0.key, value: $0.value) }) ?? ValueMap())
}

/// An op on `collection/rkey` of a repo; a create or update of `record`, a delete without one.
func change(
    _ schema: RecordSchema, _ action: Action, _ collection: String, _ rkey: String, rev: String,
    _ record: Value? = nil, did: String = "did:plc:alice", wanted: Bool = false
) throws -> RecordChange {
    guard let table = schema.table(for: collection) else { throw StorageError.misuse("not kept") }
    return RecordChange(
        action: action, table: table, did: did, rkey: rkey, rev: rev,
        cid: record == nil ? nil : "bafy-\(rkey)-\(rev)", json: record.map { JSON.encode($0) } ?? [],
        columns: record.map { table.columns(of: $0) } ?? [], timeMicroseconds: 1_000, live: true, wanted: wanted)
}

extension Database {
    /// Registers a device of the sandbox.
    @discardableResult
    func register(
        _ did: String, _ token: String, topic: String? = nil, label: String? = nil, at time: Int64
    ) throws -> Int64 {
        try writeBlocking {
            try $0.register(
                NewPushToken(
                    did: did, token: token, platform: "apns", environment: "sandbox", topic: topic, label: label),
                now: time)
        }
    }

    @discardableResult
    func apply(_ changes: RecordChange..., now: Int64 = 1_700_000_000_000) throws -> AppliedBatch {
        try apply(changes, now: now)
    }

    @discardableResult
    func apply(_ changes: [RecordChange], now: Int64 = 1_700_000_000_000) throws -> AppliedBatch {
        var batch = RecordBatch()
        batch.changes = changes
        batch.now = now
        return try writeBlocking { [batch] in try $0.apply(batch) }
    }

    func rows(_ sql: String, _ parameters: [ColumnValue] = []) throws -> [[ColumnValue]] {
        try read { try $0.query(sql, parameters).rows }
    }

    func texts(_ sql: String, _ parameters: [ColumnValue] = []) throws -> [String?] {
        try rows(sql, parameters).map { $0.first?.string }
    }

    /// The first column of the first row.
    func number(_ sql: String, _ parameters: [ColumnValue] = []) throws -> Int64? {
        try rows(sql, parameters).first?.first?.integer
    }
}
