import ATProto
import HookKit
import Storage

/// Fills batches from a recording: decodes each message and passes over what cannot be read.
struct BatchReader {
    private let recording: Recording
    private let source: String
    private let kept: CollectionFilter
    private let options: Indexer.Options
    private let emit: Emit

    init(_ recording: Recording, kept: CollectionFilter, options: Indexer.Options, emit: Emit) {
        self.recording = recording
        source = "recording:" + (recording.path.split(separator: "/").last.map(String.init) ?? recording.path)
        self.kept = kept
        self.options = options
        self.emit = emit
    }

    var bytesRead: Int64 { recording.bytesRead }
    var bytesTotal: Int64 { recording.bytesTotal }

    /// The next full batch, the last perhaps smaller; nil after the last.
    func next(_ context: IndexBatch.Context) throws -> IndexBatch? {
        var batch = IndexBatch(context)
        let now = WallClock.milliseconds()
        while batch.records.changes.count < options.batchOps, batch.weight < options.batchBytes,
            batch.counts.events < options.batchOps * 10, let item = try recording.next()
        {
            switch item {
            case .unreadable(let message, let position):
                batch.addUndecodable(message, at: "\(position)", in: source)
            case .message(let bytes, let position):
                do {
                    batch.add(try decode(bytes), live: true, now: now)
                } catch {
                    batch.addUndecodable("\(error)", at: "\(position)", in: source)
                }
            }
        }
        guard !batch.isEmpty else { return nil }
        batch.setCursor(source: source, position: recording.bytesRead)
        batch.stamp(now)
        return batch
    }

    private func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> Event {
        switch recording.format {
        case .jetstream: try JetstreamLine.decode(bytes, keep: kept)
        case .framesWithLength, .bareFrames: try RelayFrame.decode(bytes, keep: kept)
        case .repoExport: throw DecodingFailure("repo exports are not read yet")
        }
    }
}
