import Dispatch
import Glibc

/// Runs a closure at each SIGHUP, by which operators ask a running program to read its key again. Left alone when the
/// process was started to ignore it (`nohup`).
public final class ReloadSignal: @unchecked Sendable {
    // Made once, then only kept alive: dispatch sources are not marked Sendable.
    private let source: (any DispatchSourceSignal)?

    public init(_ handler: @escaping @Sendable () -> Void) {
        var before = sigaction()
        sigaction(SIGHUP, nil, &before)
        guard unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) != 1 else {
            source = nil
            return
        }
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler(handler: handler)
        source.resume()
        self.source = source
    }
}

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
