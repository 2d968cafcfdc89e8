import Synchronization

/// A result that one task awaits and a callback delivers; the first delivery counts.
final class Completion<Value: Sendable>: Sendable {
    private enum State {
        case pending(CheckedContinuation<Value, any Error>?)
        case done(Result<Value, any Error>)
    }

    private let state = Mutex(State.pending(nil))

    func finish(_ result: Result<Value, any Error>) {
        let waiting: CheckedContinuation<Value, any Error>? = state.withLock { state in
            guard case .pending(let continuation) = state else { return nil }
            state = .done(result)
            return continuation
        }
        waiting?.resume(with: result)
    }

    /// Awaited by one task alone.
    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let ready: Result<Value, any Error>? = state.withLock { state in
                if case .done(let result) = state { return result }
                state = .pending(continuation)
                return nil
            }
            if let ready { continuation.resume(with: ready) }
        }
    }
}
