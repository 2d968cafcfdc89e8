import Synchronization
import Testing

/// Lets only a few of the tests that bear it run at once, over all suites.
///
/// Swift Testing starts all tests of a run together. Those that hold servers, threads that block and child processes
/// would otherwise wait for each other longer than a client's patience lasts.
public struct FewAtATime: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Around each case alone: around a suite as well, it would hold the place that its own tests wait for.
        guard testCase != nil else { return try await function() }
        await Self.places.take()
        defer { Self.places.giveBack() }
        try await function()
    }

    private static let places = Places(6)
}

extension Trait where Self == FewAtATime {
    /// For tests with servers, blocking threads or child processes.
    public static var fewAtATime: FewAtATime { FewAtATime() }
}

/// A number of places, given out in the order of asking.
private final class Places: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
