import HookKit
import Runtime

/// Hands the configuration, read anew, to `take` at each SIGHUP; when it is refused, all stays as it was, and the log says why.
func onReload(
    _ arguments: Arguments, _ console: Console, _ take: @escaping @Sendable (Configuration) throws -> Void
) -> ReloadSignal {
    ReloadSignal {
        do {
            try take(try arguments.configuration())
        } catch {
            let emit = Emit.jsonLines { console.log($0) }
            emit("push", "key_refused", ["error": "\(error)".printable, "note": "SIGHUP: the key stays as it was"])
        }
    }
}
