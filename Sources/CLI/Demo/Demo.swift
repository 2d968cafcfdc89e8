import Glibc
import Hooks
import Runtime
import Simulators

/// The whole way in one process: an invented evening, the hooks, and a stand-in for Apple with real TLS and HTTP/2.
struct Demo: Sendable {
    /// Where the demo's database, key and certificate lie.
    private let folder: String
    /// Gets the log's lines.
    private let log: @Sendable (String) -> Void
    private let evening = GrainEvening.shipped

    /// - Parameter folder: a new folder, empty.
    init(folder: String, log: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.log = log
    }

    /// Runs the evening twice, the second time to show that nobody is told anything again.
    func run() async throws -> DemoReport {
        let recording = try recordingFile()
        let credentials = try APNsCredentials.generate(bundleID: "social.grain.demo")
        let simulator = try APNsSimulator(simulatorOptions(credentials))
        try credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)
        // The devices come first: Apple removes only what was registered before it died, and here it dies with the start.
        let registrations = try await DemoRegistrations.make(evening, try configuration(apnsPort: 1), log: log)
        try simulator.start()
        defer { simulator.stop() }
        let configuration = try configuration(apnsPort: simulator.port)
        let assembly = try Assembly(configuration, hooks: hooks, purpose: .replaying, log: log)
        return try await interruptible {
            let summary = try await Replay(assembly).run([recording.path])
            let received = simulator.received
            let again = try await Replay(assembly).run([recording.path])
            return DemoReport(
                recording: recording.name, evening: evening, registrations: registrations, port: simulator.port,
                summary: summary,
                received: received, receivedAgain: simulator.received.count - received.count,
                hookRunsAgain: again.hookRuns - summary.hookRuns, records: try assembly.recordCounts(),
                devicesLeft: try assembly.deviceSuffixes())
        } finally: {
            await assembly.stop()
        }
    }

    /// The recording that the repository ships, or the same one, written anew.
    private func recordingFile() throws -> (path: String, name: String) {
        let shipped = "Firehose/grain-evening.jsonl"
        if access(shipped, R_OK) == 0 { return (shipped, shipped) }
        let path = folder + "/grain-evening.jsonl"
        try evening.write(.jetstream, toFile: path)
        return (path, "an evening written just now")
    }

    private func configuration(apnsPort port: UInt16) throws -> Configuration {
        try Configuration.load(
            file: folder + "/hark.json5",
            environment: ["HARK_APNS_HOST": "127.0.0.1:\(port)", "HARK_APNS_CA_FILE": folder + "/ca.pem"])
    }

    private func simulatorOptions(_ credentials: APNsCredentials) -> APNsSimulator.Options {
        var options = APNsSimulator.Options(providers: [credentials])
        options.addDead(among: evening.devices)
        return options
    }
}
