import ATProto
import Foundation
import HookKit
import Hooks
import Indexer
import Runtime
import Simulators
import Storage

/// Decode → rows: a recording of creates is replayed into a new database, with decoding, hashing and validation;
/// beside it a bare C-API loop inserts the same rows. Once on tmpfs, once on disk, in turn, round after round.
struct IndexBenchmark {
    private var events = 100_000
    private var rounds = 5
    /// Those of Hark's writer.
    private static let pragmas = [
        "PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA cache_size = -40000",
        "PRAGMA journal_size_limit = 67108864", "PRAGMA temp_store = MEMORY",
    ]
    /// By what is printed for it; the disk's is the working directory's.
    private var places = [("tmpfs", "/dev/shm"), ("disk", FileManager.default.currentDirectoryPath)]
    private var formats = Simulators.RecordingFormat.allCases

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let value = rest.popFirst() else { throw BenchmarkError("\(flag) needs a value") }
            switch (flag, Int(value)) {
            case ("--events", let number?) where number > 0: events = number
            case ("--rounds", let number?) where number > 0: rounds = number
            case ("--on", _): places.removeAll { $0.0 != value }
            case ("--format", _): formats.removeAll { $0.rawValue != value }
            default: throw BenchmarkError("unknown flag \(flag) or bad value \(value)")
            }
        }
    }

    func run() async throws {
        for format in formats {
            for (label, place) in places {
                let scratch = place + "/hark-bench-\(getpid())"
                try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(atPath: scratch) }
                let recording = scratch + "/evening"
                try write(format, to: recording)
                try await compare(recording, format, in: scratch, label: label)
            }
        }
        say("peak memory \(peakMemoryMB()) MB (the bare loop's rows, held in memory, included)")
    }

    private func write(_ format: Simulators.RecordingFormat, to path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try GrainEvening(seed: 1, events: events, plain: true).write(format) { try file.write(contentsOf: $0) }
        try file.close()
    }

    private func compare(
        _ recording: String, _ format: Simulators.RecordingFormat, in scratch: String, label: String
    ) async throws {
        var hark = Figures()
        var hooked = Figures()
        var bare = Figures()
        var rows = 0
        for _ in 0..<rounds {
            let database = scratch + "/hark.db"
            hark.add(try await replay(recording, into: database, hooks: []))
            let loop = try BareInsertLoop(rowsOf: database)
            rows = loop.rows
            let peer = scratch + "/bare.db"
            bare.add(
                try await measured {
                    try loop.run(path: peer, batch: Indexer.Options().batchOps, pragmas: Self.pragmas)
                })
            try remove([database, peer])
            hooked.add(try await replay(recording, into: database, hooks: hooks))
            try remove([database])
        }
        say(
            """
            index, \(format.rawValue), \(label), \(grouped(Double(events))) events → \(grouped(Double(rows))) rows, median of \(rounds)
              hark        \(grouped(hark.rate(events))) events/s
              bare C API  \(grouped(bare.rate(rows))) rows/s
              ratio       \(rounded(hark.rate(events) / bare.rate(rows)))
              hark, running grain's hooks with push off: \(grouped(hooked.rate(events))) events/s
            """)
    }

    /// Seconds from opening the database to having closed it.
    private func replay(_ recording: String, into path: String, hooks: [Hook]) async throws -> Double {
        guard let folder = LexiconFolder.standard() else { throw BenchmarkError("Hooks/Lexicons is not here") }
        let lexicons = try LexiconFolder.load(folder)
        let kept = CollectionFilter(lexicons.documents.keys)
        return try await measured {
            let database = try Database(path: path)
            let schema = RecordSchema(lexicons: lexicons, kept: kept)
            _ = try schema.migrate(database)
            let indexer = Indexer(
                database: database, schema: schema, lexicons: lexicons, kept: kept, hooks: hooks, outbox: .off,
                emit: .silent)
            try await indexer.replay(try Recording(path: recording))
            try await indexer.drainHooks()
            database.close()
            let summary = indexer.summary
            guard summary.created == events, summary.skipped.isEmpty, summary.hookErrors == 0 else {
                throw BenchmarkError("not every event became a row: \(summary)")
            }
        }
    }

    private func remove(_ databases: [String]) throws {
        for path in databases {
            for suffix in ["", "-wal", "-shm", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
    }
}

struct BenchmarkError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
