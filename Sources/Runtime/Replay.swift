import Indexer
import Push

/// A replay: recordings fed into an assembly until every delivery has an outcome.
public struct Replay: Sendable {
    private let assembly: Assembly
    private let patience: Duration

    /// - Parameter patience: how long nothing at all may be delivered before the replay gives up waiting.
    public init(_ assembly: Assembly, patience: Duration = .seconds(60)) {
        self.assembly = assembly
        self.patience = patience
    }

    /// Tells whether all these files are recordings, so that nothing is begun when one is not.
    /// A pipe can be read only once: it is looked at when its turn comes.
    public static func check(_ paths: [String]) throws(OperatorError) {
        for path in paths where !FileContents.isPipe(path) { _ = try open(path) }
    }

    /// Feeds the recordings one after the other. Cancelling the task stops it between two batches.
    ///
    /// - Parameter progress: called for each batch, on any thread.
    /// - Throws: `OperatorError` when a file cannot be used; `RunError` when pushes are left over; `CancellationError`.
    public func run(
        _ paths: [String], progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws -> ReplaySummary {
        let clock = ContinuousClock()
        let start = clock.now
        let (indexer, push, patience) = (assembly.indexer, assembly.push, patience)
        let resumed = try await abandoningWhenCancelled { try await indexer.resumeJobs() }
        for (index, path) in paths.enumerated() {
            try await indexer.replay(try Self.open(path)) { replay in
                let share = replay.bytesTotal > 0 ? Double(replay.bytesRead) / Double(replay.bytesTotal) : 0
                progress(
                    Progress(share: (Double(index) + min(share, 1)) / Double(paths.count), events: replay.events))
            }
        }
        try await abandoningWhenCancelled { try await indexer.drainHooks() }
        let indexed = clock.now
        let left = try await abandoningWhenCancelled { await push?.drain(giveUpAfter: patience) ?? 0 }
        guard left == 0 else {
            let pushes = left == 1 ? "1 push" : "\(left) pushes"
            throw RunError(
                "\(pushes) could not be delivered, as nothing moved for \(patience.configured): "
                    + "they stay queued, and the same command tries again")
        }
        return ReplaySummary(
            indexer.summary, push: push?.counts, resumedJobs: resumed,
            indexing: indexed - start, total: clock.now - start)
    }

    /// How far a replay has come.
    public struct Progress: Sendable {
        /// From 0 to 1.
        public var share: Double
        public var events: Int
    }

    private static func open(_ path: String) throws(OperatorError) -> sending Recording {
        do {
            return try Recording(path: path)
        } catch {
            throw OperatorError("\(error)")
        }
    }
}
