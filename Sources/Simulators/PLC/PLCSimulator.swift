import Crypto
import Synchronization
import XRPC

/// A stand-in for the PLC directory on 127.0.0.1, with accounts whose keys it knows. Thread-safe.
///
/// Answers as plc.directory does: `/did:plc:…` and `/did:plc:…/data`, 404 for an account that it does not list, 410 for
/// one that was given up, `/_health`. What lies under `/_simulate/` no real directory has.
public final class PLCSimulator: Sendable {
    public struct Options: Sendable {
        /// 0 takes any free port.
        public var port: UInt16 = 0
        public var identities: [PLCIdentity]
        /// The first that fits a request is played.
        public var faults: [PLCFault.Rule] = []

        public init(identities: [PLCIdentity]) { self.identities = identities }
    }

    private let directory: PLCDirectory
    private let server: HTTPServer

    /// Opens the port at once. Throws `ServerError`.
    public init(_ options: Options) throws {
        let directory = PLCDirectory(options)
        self.directory = directory
        var limits = HTTPLimits()
        limits.requestsPerSecond = 0
        limits.handlerTimeout = PLCDirectory.forever
        server = try HTTPServer(
            listen: "127.0.0.1:\(options.port)", limits: limits,
            refusals: { PLCDirectory.message($0.status, $0.message) },
            handler: { directory.reply(to: $0) })
    }

    public var port: UInt16 { server.port }
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Drops what is unanswered, and closes the port.
    public func stop() async { await server.stop(deadline: .zero) }

    /// In order of their handles.
    public var identities: [PLCIdentity] {
        directory.state.withLock { $0.identities.values.sorted { $0.handle < $1.handle } }
    }

    public func identity(_ did: String) -> PLCIdentity? { directory.state.withLock { $0.identities[did] } }

    /// Lists an account, in the place of what was known of it.
    public func put(_ identity: PLCIdentity) { directory.state.withLock { $0.identities[identity.did] = identity } }

    /// Gives an account another key of the same curve, as a move to another server does. False where there is none.
    @discardableResult
    public func rotateKey(of did: String) throws(KeyError) -> Bool { try directory.rotateKey(of: did) }

    /// From now on; the first that fits a request is played.
    public func play(_ faults: [PLCFault.Rule]) { directory.state.withLock { $0.faults = faults } }

    /// Requests for documents so far, of one account or of all.
    public func requests(for did: String? = nil) -> Int {
        directory.state.withLock { state in did.map { state.requests[$0] ?? 0 } ?? state.requests.values.reduce(0, +) }
    }
}
