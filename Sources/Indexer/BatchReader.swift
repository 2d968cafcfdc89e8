import ATProto
import HookKit
import Storage

/// Fills batches from a recording: decodes each message and passes over what cannot be read.
struct BatchReader {
    private let recording: Recording
    let source: String
    private let kept: CollectionFilter
    private let options: Indexer.Options
    /// A repo export whose records are being handed out, and the next of them.
    private var export: (repo: RepoExport, next: Int)?

    init(_ recording: Recording, kept: CollectionFilter, options: Indexer.Options) {
        self.recording = recording
        source = "recording:" + (recording.path.split(separator: "/").last.map(String.init) ?? recording.path)
        self.kept = kept
        self.options = options
    }

    var bytesRead: Int64 { recording.bytesRead }
    var bytesTotal: Int64 { recording.bytesTotal }

    /// The next full batch, the last perhaps smaller; nil after the last.
    mutating func next(_ context: IndexBatch.Context) throws -> IndexBatch? {
        var batch = IndexBatch(context)
        let now = WallClock.milliseconds()
        if recording.format == .repoExport {
            try fillFromExport(&batch, now)
        } else {
            try fill(&batch, now)
        }
        guard !batch.isEmpty else { return nil }
        batch.setCursor(source: source, position: recording.bytesRead)
        batch.stamp(now)
        return batch
    }

    private func fill(_ batch: inout IndexBatch, _ now: Int64) throws {
        while batch.records.changes.count < options.batchOps, batch.weight < options.batchBytes,
            batch.counts.events < options.batchOps * 10, let item = try recording.next()
        {
            switch item {
            case .unreadable(let message, let position):
                batch.addUndecodable(message, at: "\(position)")
            case .message(let bytes, let position):
                do {
                    batch.add(try decode(bytes), live: true, wanted: true, now: now)
                } catch {
                    batch.addUndecodable("\(error)", at: "\(position)")
                }
            }
        }
    }

    /// A repo export is a backfill: one commit's records, in batches, that no hook is told of.
    private mutating func fillFromExport(_ batch: inout IndexBatch, _ now: Int64) throws {
        if export == nil, case .message(let bytes, let position)? = try recording.next() {
            do {
                export = (try RepoExport(bytes), 0)
            } catch {
                batch.addUndecodable("\(error)", at: "\(position)")
            }
        }
        guard let (repo, next) = export else { return }
        let end = min(next + options.batchOps, repo.entries.count)
        guard next < end else { return }
        batch.add(.commit(repo.commit(of: next..<end, keep: kept)), live: false, wanted: false, now: now)
        export = (repo, end)
    }

    private func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> Event {
        switch recording.format {
        case .jetstream: try JetstreamLine.decode(bytes, keep: kept)
        case .framesWithLength, .bareFrames: try RelayFrame.decode(bytes, keep: kept)
        case .repoExport: throw DecodingFailure("a repo export is not one event")
        }
    }
}

extension RepoExport {
    /// Some of the export's records as creates of one commit; those that cannot be read are dropped.
    fileprivate func commit(of range: Range<Int>, keep: CollectionFilter) -> Commit {
        var commit = Commit(
            repo: commit.did, rev: commit.rev, seq: nil, timeMicroseconds: nil, ops: [], dropped: [], ignoredOps: 0)
        for entry in entries[range] {
            guard keep.contains(entry.collection.description) else {
                commit.ignoredOps += 1
                continue
            }
            do throws(DecodingFailure) {
                let record = try record(entry)
                commit.ops.append(
                    RecordOp(
                        action: .create, collection: entry.collection, rkey: entry.rkey, cid: entry.cid, record: record)
                )
            } catch {
                let path = "\(entry.collection)/\(entry.rkey)"
                commit.dropped.append(
                    DroppedOp(path: path, reason: .malformedRecord, message: error.description))
            }
        }
        return commit
    }
}
