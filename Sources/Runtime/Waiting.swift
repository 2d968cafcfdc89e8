/// The result of `work`, or `CancellationError` as soon as the task is cancelled: `work` then goes on by itself.
///
/// For waiting on what cannot be cancelled.
func abandoningWhenCancelled<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) async throws -> T {
    let (results, result) = AsyncStream.makeStream(of: Result<T, any Error>.self)
    Task {
        do {
            result.yield(.success(try await work()))
        } catch {
            result.yield(.failure(error))
        }
    }
    // A cancelled task finds the stream at its end.
    guard let first = await results.first(where: { _ in true }) else { throw CancellationError() }
    return try first.get()
}

/// True when `work` ends within `deadline`; it goes on by itself otherwise.
func finishes(within deadline: Duration, _ work: @escaping @Sendable () async -> Void) async -> Bool {
    let (results, result) = AsyncStream.makeStream(of: Bool.self)
    Task {
        await work()
        result.yield(true)
    }
    let timer = Task {
        try await Task.sleep(for: deadline)
        result.yield(false)
    }
    defer { timer.cancel() }
    return await results.first { _ in true } ?? false
}
