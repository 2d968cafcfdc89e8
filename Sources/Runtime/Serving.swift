import ATProto
import HookKit
import Identity
import Indexer
import XRPC

/// A Hark that serves: it delivers the outbox, and answers apps and operators over HTTP. Thread-safe.
public final class Serving: Sendable {
    private let assembly: Assembly
    private let server: PushServer

    /// For each step of stopping: requests, hooks, pushes and their records. Together less than 5 s.
    private static let stopDeadline: Duration = .seconds(1)

    /// Listens and delivers at once.
    ///
    /// - Parameters:
    ///   - version: what `/_health` calls this program.
    ///   - log: gets whatever is emitted, as JSON, a line a call with its newline; called on any thread.
    /// - Throws: `OperatorError` and its kin, or `RunError`; in either case nothing is left running.
    public init(
        _ configuration: Configuration, hooks: [Hook], version: String, log: @escaping @Sendable (String) -> Void
    ) async throws {
        guard let did = configuration.did.flatMap({ try? DID($0) }) else {
            throw OperatorError(
                "this server has no name: set did in the configuration, such as \"did:web:push.example.com\"")
        }
        let assembly = try Assembly(configuration, hooks: hooks, log: log)
        do {
            let figures = ServingFigures(assembly, version: version)
            var options = Self.options(configuration, did, figures)
            options.admin = configuration.admin.map { token in
                let desk = OperatorDesk(
                    figures, hooks: hooks, did: did.description, lifetime: configuration.pushLifetime)
                return AdminSite.Options(token: token, desk: desk)
            }
            server = try PushServer(options, database: assembly.database, emit: assembly.emit)
        } catch {
            await assembly.stop(deadline: Self.stopDeadline)
            throw RunError("\(error)")
        }
        self.assembly = assembly
        if configuration.push == nil {
            assembly.emit("push", "off", ["message": "the configuration has no push section: no device can register"])
        }
    }

    /// The port that it has got.
    public var port: UInt16 { server.port }

    private static func options(
        _ configuration: Configuration, _ did: DID, _ figures: ServingFigures
    ) -> PushServer.Options {
        var options = PushServer.Options(did: did)
        options.listen = configuration.listen
        options.limits = configuration.limits
        options.identity.directory = configuration.plc
        options.identity.allowedHosts = configuration.auth.allowedHosts
        options.identity.capacity = configuration.auth.documents
        options.identity.maximumAge = configuration.auth.documentAge
        options.maximumTokenLifetime = configuration.auth.lifetime.components.seconds
        options.clockSkew = configuration.auth.skew.components.seconds
        options.isPushOn = configuration.push != nil
        options.platforms = ["apns"]
        options.environment = configuration.push?.environment ?? options.environment
        options.health = { await figures.health() }
        options.metrics = { await figures.add(to: &$0) }
        return options
    }

    /// Runs the hooks that an earlier process left undone, and serves until the task is cancelled; then stops: what runs
    /// may finish within a few seconds, and what is left undone, the next start does.
    ///
    /// - Throws: `CancellationError`, or what kept the hooks from running.
    public func run() async throws {
        let indexer = assembly.indexer
        let result: Result<Void, any Error>
        do {
            _ = try await abandoningWhenCancelled { try await indexer.resumeJobs() }
            while true { try await Task.sleep(for: .seconds(3600)) }
        } catch {
            result = .failure(error)
        }
        // A task of its own, since this one is cancelled and could wait for nothing.
        await Task { await stop() }.value
        try result.get()
    }

    /// Stops what `run` would, for whoever does without it. Later calls do nothing.
    public func stop() async {
        await server.stop(deadline: Self.stopDeadline)
        await assembly.stop(deadline: Self.stopDeadline)
    }

    /// Takes up the key of a configuration that was read anew, as far as push is on in both; all else stays as it was.
    ///
    /// - Throws: `OperatorError`; delivery then goes on with the key it has.
    public func reloadKey(_ configuration: Configuration) throws(OperatorError) {
        try assembly.reloadKey(configuration)
    }
}
