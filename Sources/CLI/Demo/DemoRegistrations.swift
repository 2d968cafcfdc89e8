import Runtime
import Simulators

/// The evening's devices, registered as phones do it: over XRPC, each call with a service token that is really signed,
/// whose key the server finds in a PLC directory. One further device is registered and taken back.
struct DemoRegistrations: Sendable {
    private(set) var registered = 0
    private(set) var unregistered = 0

    private static let did = "did:web:push.example.com"
    /// A phone that somebody has sold since.
    private static let soldPhone = String(repeating: "50", count: 32)

    /// Serves with this configuration as long as the phones need, beside a stand-in for the directory.
    static func make(
        _ evening: GrainEvening, _ configuration: Configuration, log: @escaping @Sendable (String) -> Void
    ) async throws -> DemoRegistrations {
        let directory = try PLCSimulator(PLCSimulator.Options(identities: PLCIdentity.people(of: evening)))
        var configuration = configuration
        configuration.did = did
        configuration.listen = "127.0.0.1:0"
        configuration.plc = directory.url
        let serving = try await Serving(configuration, hooks: [], version: Version.current, log: log)
        let app = try SimulatedApp(server: "http://127.0.0.1:\(serving.port)", audience: did)
        return try await interruptible {
            try await registerAll(evening, in: directory, with: app)
        } finally: {
            app.close()
            await serving.stop()
            await directory.stop()
        }
    }

    private static func registerAll(
        _ evening: GrainEvening, in directory: PLCSimulator, with app: SimulatedApp
    ) async throws -> DemoRegistrations {
        var registrations = DemoRegistrations()
        for device in evening.devices {
            let owner = try owner(device.did, in: directory)
            try await registrations.register(device.token, of: owner, with: app)
        }
        if let seller = directory.identities.first {
            try await registrations.register(soldPhone, of: seller, with: app)
            try await registrations.unregister(soldPhone, of: seller, with: app)
        }
        return registrations
    }

    private static func owner(_ did: String, in directory: PLCSimulator) throws -> PLCIdentity {
        guard let owner = directory.identity(did) else { throw RunError("the directory does not list \(did)") }
        return owner
    }

    private mutating func register(_ token: String, of owner: PLCIdentity, with app: SimulatedApp) async throws {
        let answer = try await app.register(token, of: owner)
        try Self.check(answer, "register")
        registered += 1
    }

    private mutating func unregister(_ token: String, of owner: PLCIdentity, with app: SimulatedApp) async throws {
        let answer = try await app.unregister(token, of: owner)
        try Self.check(answer, "unregister")
        unregistered += 1
    }

    private static func check(_ answer: SimulatedApp.Answer, _ deed: String) throws {
        guard answer.status != 200 else { return }
        throw RunError("the server would not \(deed) a device: \(answer.status) \(answer.error ?? "")")
    }
}
