import ATProto
import CSQLite

/// An applied op that some hook wants, as `_hook_jobs` keeps it until its hooks have run.
public struct HookJob: Sendable {
    public var id: Int64
    public var action: Action
    public var collection: String
    public var uri: String
    public var did: String
    public var rkey: String
    public var rev: String
    public var cid: String?
    /// The record as JSON; nil on delete.
    public var record: [UInt8]?
    public var timeMicroseconds: Int64
    public var live: Bool

    public init(
        id: Int64, action: Action, collection: String, uri: String, did: String, rkey: String, rev: String,
        cid: String?, record: [UInt8]?, timeMicroseconds: Int64, live: Bool
    ) {
        self.id = id
        self.action = action
        self.collection = collection
        self.uri = uri
        self.did = did
        self.rkey = rkey
        self.rev = rev
        self.cid = cid
        self.record = record
        self.timeMicroseconds = timeMicroseconds
        self.live = live
    }
}

extension Transaction {
    /// The jobs that an earlier process left, in order of arrival, after `id`.
    public func unfinishedJobs(after id: Int64, limit: Int) throws -> [HookJob] {
        try checkOpen()
        let statement = try connection.statement(
            """
            SELECT id, action, collection, uri, did, rkey, rev, cid, record, time, live FROM _hook_jobs
            WHERE id > ? ORDER BY id LIMIT ?
            """)
        statement.bind(1, id)
        statement.bind(2, Int64(limit))
        var jobs: [HookJob] = []
        try statement.forEachRow { row in
            guard let action = Action(rawValue: row.text(1)) else { return }
            jobs.append(
                HookJob(
                    id: row.integer(0), action: action, collection: row.text(2), uri: row.text(3), did: row.text(4),
                    rkey: row.text(5), rev: row.text(6), cid: row.optionalText(7),
                    record: row.isNull(8) ? nil : [UInt8](row.utf8(8)), timeMicroseconds: row.integer(9),
                    live: row.integer(10) != 0))
        }
        return jobs
    }

    /// Ends a job: writes one outbox row per device of each notification's recipient (a row whose dedupe key is there
    /// already is left as it is), notes what made no row, and removes the job.
    /// - Parameter notes: on sends that were not to make one.
    public func finish(
        job id: Int64, notifications: [OutboxEntry], notes: [OutboxNote] = [], now: Int64
    ) throws -> OutboxWrites {
        try checkOpen()
        let writes = try enqueue(notifications, now: now)
        for note in notes { try write(note, now: now) }
        let statement = try connection.statement("DELETE FROM _hook_jobs WHERE id = ?")
        statement.bind(1, id)
        try statement.run()
        return writes
    }

    /// Writes the job of an op that was just applied.
    func addJob(_ change: RecordChange) throws(StorageError) -> HookJob {
        let job = HookJob(
            id: nextJobID, action: change.action, collection: change.table.collection, uri: change.uri,
            did: change.did, rkey: change.rkey, rev: change.rev, cid: change.cid,
            record: change.action == .delete ? nil : change.json, timeMicroseconds: change.timeMicroseconds,
            live: change.live)
        nextJobID += 1
        let insert = try connection.statement("INSERT INTO _hook_jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        defer { insert.reset() }
        insert.bind(1, job.id)
        insert.bind(2, job.action.rawValue)
        insert.bind(3, job.collection)
        insert.bind(10, job.timeMicroseconds)
        insert.bind(11, job.live ? 1 : 0)
        _ = try insert.step(over: change.row) { row, memory in
            memory.bind(4, row.uri)
            memory.bind(5, row.did)
            memory.bind(6, row.rkey)
            memory.bind(7, row.rev)
            if !row.cid.isEmpty { memory.bind(8, row.cid) }
            if job.record != nil { memory.bind(9, row.json) }
        }
        return job
    }
}
