import Runtime

/// Runs `work`, which SIGINT and SIGTERM cancel; and after it, however it ended, `cleanUp`.
func interruptible<T: Sendable>(
    _ work: @escaping @Sendable () async throws -> T, finally cleanUp: @Sendable () async -> Void
) async throws -> T {
    let task = Task(operation: work)
    let signals = TerminationSignals { task.cancel() }
    defer { withExtendedLifetime(signals) {} }
    let result = await task.result
    await cleanUp()
    return try result.get()
}

/// Returns once the process is asked to end.
func untilInterrupted() async {
    _ = try? await interruptible {
        while true { try await Task.sleep(for: .seconds(3600)) }
    } finally: {
    }
}
