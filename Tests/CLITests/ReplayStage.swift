import Foundation
import Runtime
import Simulators
import Testing

/// A folder with a recorded evening, a database with the evening's devices, and a stand-in for Apple in this process.
struct ReplayStage {
    let hark: HarkProcess
    let simulator: APNsSimulator
    let environment: [String: String]

    init(_ evening: GrainEvening, faults: Faults = Faults(), onPush: (@Sendable (ReceivedPush) -> Void)? = nil)
        async throws
    {
        hark = try HarkProcess()
        let folder = hark.folder.path
        try evening.write(.jetstream, toFile: folder + "/evening.jsonl")
        try await Self.register(evening.devices, in: folder + "/hark.db")

        let credentials = try APNsCredentials.generate(bundleID: "social.grain.test")
        var options = APNsSimulator.Options(providers: [credentials])
        options.onPush = onPush
        options.faults = faults
        options.addDead(among: evening.devices)
        simulator = try APNsSimulator(options)
        try simulator.start()
        try credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)
        environment = [
            "HARK_APNS_HOST": "127.0.0.1:\(simulator.port)", "HARK_APNS_CA_FILE": folder + "/ca.pem",
        ]
    }

    private static func register(_ devices: [EveningDevice], in database: String) async throws {
        let tokens = try DeviceTokens(database: database)
        defer { tokens.close() }
        for device in devices {
            _ = try await tokens.add(
                NewDevice(
                    did: device.did, token: device.token, platform: "apns", environment: "production", topic: nil,
                    label: nil))
        }
    }

    func replay(_ flags: [String] = ["--json"]) async throws -> HarkProcess.Result {
        try await hark.run(["replay", "evening.jsonl"] + flags, environment: environment)
    }

    func devicesLeft() throws -> Set<String> {
        let tokens = try DeviceTokens(database: hark.folder.path + "/hark.db")
        defer { tokens.close() }
        return Set(try tokens.list(did: nil).map(\.suffix))
    }

    // MARK: Comparing

    /// A delivery as one text, so that two lists of them compare as lists of bytes.
    static func keys(_ deliveries: [ExpectedDelivery]) -> [[UInt8]] {
        sorted(deliveries.map { key($0.token, $0.push.title, $0.push.body, $0.push.data) })
    }

    static func keys(_ pushes: [ReceivedPush]) -> [[UInt8]] {
        sorted(pushes.filter(\.isAccepted).map { key($0.token, $0.title ?? "", $0.body ?? "", $0.data) })
    }

    private static func key(_ token: String, _ title: String, _ body: String, _ data: [String: String]) -> [UInt8] {
        Array("\(token)|\(title)|\(body)|\(data.sorted { $0.key < $1.key })".utf8)
    }

    private static func sorted(_ keys: [[UInt8]]) -> [[UInt8]] { keys.sorted { $0.lexicographicallyPrecedes($1) } }
}
