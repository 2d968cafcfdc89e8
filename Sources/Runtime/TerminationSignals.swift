import Dispatch
import Glibc

/// Runs a closure when the process is asked to end (SIGINT, SIGTERM). A second request ends it at once.
public final class TerminationSignals: @unchecked Sendable {
    // Made once, then only kept alive: dispatch sources are not marked Sendable.
    private let sources: [any DispatchSourceSignal]

    public init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(SIGINT, SIG_DFL)
                signal(SIGTERM, SIG_DFL)
                handler()
            }
            source.resume()
            return source
        }
    }
}
