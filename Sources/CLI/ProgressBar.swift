import Runtime
import Synchronization

/// A bar on the terminal for what takes longer than a moment. Thread-safe; silent where standard error is no terminal.
final class ProgressBar: Sendable {
    private let console: Console
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let nextDraw: Mutex<ContinuousClock.Instant>

    private static let width = 30
    private static let patience: Duration = .milliseconds(500)
    private static let interval: Duration = .milliseconds(100)

    init(_ console: Console) {
        self.console = console
        start = clock.now
        nextDraw = Mutex(clock.now + Self.patience)
    }

    func show(_ progress: Replay.Progress) {
        guard console.errorIsTerminal else { return }
        let now = clock.now
        let isDue = nextDraw.withLock { next in
            guard now >= next else { return false }
            next = now + Self.interval
            return true
        }
        guard isDue else { return }
        let share = min(max(progress.share, 0), 1)
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        let rate = Double(progress.events) / ((now - start) / .seconds(1))
        let (events, speed) = (progress.events.grouped, Int(rate).grouped)
        console.showBar("\(bar) \(Int(share * 100)) %  \(events) events, \(speed)/s")
    }

    func finish() { if console.errorIsTerminal { console.showBar(nil) } }
}
