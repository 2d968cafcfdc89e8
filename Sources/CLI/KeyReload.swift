import Runtime

/// Hands the configuration, read anew, to `take` at each SIGHUP; when it is refused, all stays as it was.
func onReload(
    _ arguments: Arguments, _ console: Console, _ take: @escaping @Sendable (Configuration) throws -> Void
) -> ReloadSignal {
    ReloadSignal {
        do {
            try take(try arguments.configuration())
        } catch {
            console.complain("SIGHUP: the key stays as it was: \(error)".printable)
        }
    }
}
