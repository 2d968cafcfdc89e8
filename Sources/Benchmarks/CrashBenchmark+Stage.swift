import Foundation
import Runtime
import Simulators

/// One evening, its database, and a gateway that outlives every process that delivers to it.
final class CrashStage {
    private let folder: String
    private let evening: GrainEvening
    private let simulator: APNsSimulator
    private let recording: String
    private var database: String { folder + "/hark.db" }
    private var figures = CrashFigures()
    /// The last connection that the gateway had seen when each process ended, and which rows it was sending then.
    private var ends: [(connection: Int, running: Set<String>)] = []

    init(seed: UInt64, events: Int, faults: Faults, in place: String) async throws {
        folder = place + "/hark-crash-\(getpid())-\(seed)"
        try FileManager.default.createDirectory(atPath: folder + "/copy", withIntermediateDirectories: true)
        evening = GrainEvening(seed: seed, events: events)
        recording = folder + "/evening.jsonl"
        try evening.write(.jetstream, toFile: recording)
        try await Self.register(evening.devices, in: folder + "/hark.db")

        let credentials = try APNsCredentials.generate(bundleID: "social.grain.test")
        var options = APNsSimulator.Options(providers: [credentials])
        options.faults = faults
        options.addDead(among: evening.devices)
        simulator = try APNsSimulator(options)
        try simulator.start()
        try credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)
    }

    deinit {
        simulator.stop()
        try? FileManager.default.removeItem(atPath: folder)
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

    /// Kills up to `kills` processes, each when it has lived for `lifetime`, and lets one come to its end.
    func run(kills: Int, lifetime: () -> Duration) throws -> CrashFigures {
        figures.databases = 1
        while figures.kills < kills {
            let process = try CrashChild.start(folder: folder, recording: recording, port: simulator.port)
            Thread.sleep(forTimeInterval: lifetime() / .seconds(1))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            guard process.terminationReason == .uncaughtSignal else {
                try check(process)
                break
            }
            figures.kills += 1
            let running = try rows().filter { $0.state == "running" }
            figures.inFlight.append(running.count)
            ends.append((simulator.counts.connections, Set(running.map(\.id))))
        }
        let last = try CrashChild.start(folder: folder, recording: recording, port: simulator.port)
        last.waitUntilExit()
        try check(last)
        try judge()
        return figures
    }

    private func check(_ process: Process) throws {
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw BenchmarkError("a process that was not killed ended with \(process.terminationStatus)")
        }
    }

    // MARK: Judging

    private func judge() throws {
        var deliveries: [String: [Int]] = [:]
        var pushes: [String: ReceivedPush] = [:]
        for push in simulator.received where push.isAccepted {
            let id = Self.bare(push.apnsID)
            deliveries[id, default: []].append(push.connection)
            pushes[id] = push
        }
        compare(pushes.values.map(Self.key), evening.expectedPushes(on: evening.devices).map(Self.key))
        for (id, connections) in deliveries { judge(id, connections) }
        for row in try rows() {
            switch row.state {
            case "sent": if deliveries[row.id] == nil { figures.falselySent += 1 }
            case "dead", "removed", "expired": break
            default: figures.unsettled += 1
            }
        }
    }

    /// A second delivery is excused when the process that made the one before it was killed while the row was running.
    private func judge(_ id: String, _ connections: [Int]) {
        for (earlier, later) in zip(connections, connections.dropFirst()) {
            figures.duplicates += 1
            let end = ends.first { earlier <= $0.connection }
            let isExcused = end.map { $0.connection < later && $0.running.contains(id) } ?? false
            if !isExcused { figures.inexcusable += 1 }
        }
    }

    private func compare(_ found: [[UInt8]], _ wanted: [[UInt8]]) {
        var balance: [[UInt8]: Int] = [:]
        for key in wanted { balance[key, default: 0] += 1 }
        for key in found { balance[key, default: 0] -= 1 }
        figures.expected = wanted.count
        figures.delivered = found.count
        figures.missing = balance.values.reduce(0) { $0 + max($1, 0) }
        figures.unexpected = balance.values.reduce(0) { $0 + max(-$1, 0) }
    }

    /// A delivery as bytes: two of the evening's names are equal as text, but not as bytes.
    private static func key(_ delivery: ExpectedDelivery) -> [UInt8] {
        key(delivery.token, delivery.push.title, delivery.push.body, delivery.push.data)
    }

    private static func key(_ push: ReceivedPush) -> [UInt8] {
        key(push.token, push.title ?? "", push.body ?? "", push.data)
    }

    private static func key(_ token: String, _ title: String, _ body: String, _ data: [String: String]) -> [UInt8] {
        Array("\(token)|\(title)|\(body)|\(data.sorted { $0.key < $1.key })".utf8)
    }

    // MARK: The outbox

    private struct Row {
        var id: String
        var state: String
    }

    /// From a copy, so that the next process finds the files as the last one left them.
    private func rows() throws -> [Row] {
        let copy = folder + "/copy/hark.db"
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: copy + suffix)
            if suffix != "-shm", FileManager.default.fileExists(atPath: database + suffix) {
                try FileManager.default.copyItem(atPath: database + suffix, toPath: copy + suffix)
            }
        }
        return try OutboxReading.rows(of: copy).map { Row(id: Self.bare($0.key), state: $0.state) }
    }

    /// An id without what a UUID's version takes of it: 30 hexadecimal digits.
    private static func bare(_ id: String) -> String {
        let digits = id.lowercased().filter { $0 != "-" }
        return String(digits.enumerated().filter { $0.offset != 12 && $0.offset != 16 }.map(\.element))
    }
}
