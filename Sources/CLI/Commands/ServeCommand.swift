import Hooks
import Runtime

extension Command {
    static let serve = Command(
        name: "serve", summary: "let apps register their devices, and deliver the pushes",
        options: [.config, .database],
        notes: [
            "Needs the configuration's did. Answers at its listen: /xrpc/…, /_health, /metrics, /.well-known/did.json.",
            "Ends within five seconds of SIGINT or SIGTERM. SIGHUP makes it read Apple's key again.",
        ]
    ) { arguments in
        let console = Console.shared
        let configuration = try arguments.configuration()
        try await interruptible {
            let serving = try await Serving(configuration, hooks: hooks, version: Version.current) { console.log($0) }
            let reload = onReload(arguments, console) { try serving.reloadKey($0) }
            defer { withExtendedLifetime(reload) {} }
            do {
                try await serving.run()
            } catch is CancellationError {
                // To be asked to end is how a server's work is done.
            }
        } finally: {
        }
    }
}
