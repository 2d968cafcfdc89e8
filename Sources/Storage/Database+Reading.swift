import Dispatch

extension Database {
    /// Reads on a thread that may wait, which those of Swift's tasks must not.
    package func reading<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try self.read(body) }) }
        }
    }
}
