import ATProto
import Foundation
import Hooks
import Push
import Simulators
import Storage
import Synchronization
import Testing

@testable import Runtime

/// A recorded evening, a database that several processes work on one after the other, and a stand-in for Apple that
/// outlives them.
final class CrashStage {
    private let folder: ConfigurationFolder
    private let evening: GrainEvening
    private let simulator: APNsSimulator
    private let knowsDead: Bool
    /// For each process that was killed: the last connection that the gateway had seen, and the rows that were being sent.
    private var ends: [(connection: Int, running: Set<String>)] = []

    var path: String { folder.path }
    var port: Int { Int(simulator.port) }
    var received: [ReceivedPush] { simulator.received }
    private var database: String { path + "/hark.db" }

    /// - Parameters:
    ///   - answersAfter: how long each answer is held back.
    ///   - knowsDead: the gateway calls those devices dead that the evening means to be.
    init(events: Int, answersAfter delay: Duration, knowsDead: Bool = false) async throws {
        self.knowsDead = knowsDead
        folder = try ConfigurationFolder()
        evening = GrainEvening(seed: 31, events: events)
        try evening.write(.jetstream, toFile: folder.path + "/evening.jsonl")
        // Before the gateway's start, which is when the dead ones die.
        try await Self.register(evening.devices, in: folder.path + "/hark.db")
        let credentials = try APNsCredentials.generate(bundleID: "social.grain.test")
        var options = APNsSimulator.Options(providers: [credentials])
        // Some rows are claimed a second time.
        _ = try options.faults.set("--answer", "503:every=9:first=1")
        options.faults.delay = delay...delay
        if knowsDead { options.addDead(among: evening.devices) }
        simulator = try APNsSimulator(options)
        try simulator.start()
        try folder.write(credentials.keyPEM, to: "key.p8")
        try folder.write(simulator.caPEM, to: "ca.pem")
        try folder.write(
            """
            {batch: 25, push: {backoff: {base: "10ms", cap: "20ms"}, apns: {keyFile: "key.p8",
                keyId: "\(credentials.keyID)", teamId: "\(credentials.teamID)", bundleId: "social.grain.test"}}}
            """, to: "hark.json5")
    }

    private static func register(_ devices: [EveningDevice], in path: String) async throws {
        let tokens = try DeviceTokens(database: path)
        defer { tokens.close() }
        for device in devices {
            _ = try await tokens.add(
                NewDevice(
                    did: device.did, token: device.token, platform: "apns", environment: "production", topic: nil,
                    label: nil))
        }
    }

    deinit { simulator.stop() }

    /// One process's work: the whole recording, until every push has an outcome.
    /// - Parameter handsOver: what hooks send is handed over from the first row on, as the sender has looked through the
    ///   outbox before. Else the first ones may be queued while it still looks, and be claimed.
    static func replay(
        in folder: String, port: Int, retention: Duration, crash: CrashPoints?, handsOver: Bool = false
    ) async throws {
        var configuration = try Configuration.load(
            file: folder + "/hark.json5",
            environment: ["HARK_APNS_HOST": "127.0.0.1:\(port)", "HARK_APNS_CA_FILE": folder + "/ca.pem"])
        configuration.push?.tuning.retention = retention
        // No look for others' rows comes between.
        if handsOver { configuration.push?.tuning.lookInterval = .seconds(86_400) }
        let assembly = try Assembly(configuration, hooks: hooks, purpose: .replaying, crash: crash) { _ in }
        if handsOver { _ = await assembly.push?.drain(giveUpAfter: .seconds(60)) }
        _ = try await Replay(assembly).run([folder + "/evening.jsonl"])
        await assembly.stop()
    }

    /// Kills this process when it comes to `point`.
    static func deadly(_ point: CrashPoint) -> CrashPoints {
        CrashPoints { if $0 == point { kill(getpid(), SIGKILL) } }
    }

    func finish(retention: Duration = .seconds(86_400)) async throws {
        try await Self.replay(in: path, port: port, retention: retention, crash: nil)
    }

    /// To be called when a process was killed: notes which rows it was sending.
    func noteKill() throws {
        ends.append((simulator.counts.connections, Set(try rows().filter { $0.state == "running" }.map(\.id))))
    }

    // MARK: Judging

    /// Whether records, jobs and cursor are as the evening alone would leave them.
    func expectWholeRecords() throws {
        let database = try Database(path: database)
        defer { database.close() }
        for (collection, expected) in evening.expectations.records where !expected.isEmpty {
            let found = try database.read { connection in
                try connection.query("SELECT uri, record FROM \"\(collection)\"", []).rows.map { row in
                    (text(row[0]), try JSON.decode(Array(text(row[1]).utf8)))
                }
            }
            #expect(Dictionary(found, uniquingKeysWith: { $1 }) == expected)
        }
        #expect(try number("SELECT count(*) FROM _hook_jobs", in: database) == 0)
        let size = try FileManager.default.attributesOfItem(atPath: path + "/evening.jsonl")[.size] as? Int64
        #expect(try number("SELECT position FROM _cursor", in: database) == size)
    }

    /// Whether each push that the evening calls for was delivered, and each row is recorded with one outcome. Without dead
    /// devices, the rows are those of the pushes.
    func expectEachPushRecordedOnce() throws {
        var byID: [String: ReceivedPush] = [:]
        for push in received where push.isAccepted { byID[push.apnsID] = push }
        #expect(
            byID.values.map(Self.key).sorted() == expectedKeys)
        let rows = try rows()
        let sent = rows.filter { $0.state == "sent" }
        #expect(Set(sent.map(\.id)) == Set(byID.keys) && sent.count == byID.count)
        #expect(rows.allSatisfy { $0.state == "sent" || knowsDead && $0.state == "removed" })
        let database = try Database(path: database)
        defer { database.close() }
        for (name, count) in [("push-sent", sent.count), ("push-failed", rows.count - sent.count)] {
            #expect(try number("SELECT value FROM _counters WHERE name = '\(name)'", in: database) == Int64(count))
        }
    }

    /// Whether the devices that the gateway calls dead are gone, as far as it was asked, and no others.
    func expectDeadDevicesGone() throws {
        let database = try Database(path: database)
        defer { database.close() }
        let left = try database.read { try $0.tokens(did: nil).map(\.token) }
        let dead = evening.expectations.removedDevices(of: evening.devices).map(\.token)
        #expect(!dead.isEmpty)
        #expect(left.sorted() == evening.devices.map(\.token).filter { !dead.contains($0) }.sorted())
    }

    /// Whether a push came twice only when the process that sent it first was killed before it could record the answer.
    func expectNoInexcusableDouble() {
        var connections: [String: [Int]] = [:]
        for push in received where push.isAccepted { connections[push.apnsID, default: []].append(push.connection) }
        for (id, deliveries) in connections {
            for (earlier, later) in zip(deliveries, deliveries.dropFirst()) {
                let end = ends.first { earlier <= $0.connection }
                #expect(end.map { $0.connection < later && $0.running.contains(id) } ?? false)
            }
        }
    }

    var rowCount: Int { get throws { try rows().count } }

    /// One a living device.
    private var expectedKeys: [String] {
        let living = evening.devices.filter { !knowsDead || $0.deadAnswer == nil }
        let devices = Dictionary(grouping: living, by: \.did)
        return evening.expectations.pushes.flatMap { push in
            (devices[push.recipient] ?? []).map { Self.key($0.token, push.title, push.body, push.data) }
        }.sorted()
    }

    private static func key(_ push: ReceivedPush) -> String {
        key(push.token, push.title ?? "", push.body ?? "", push.data)
    }

    /// In hexadecimal digits, since two of the evening's names are equal as text but not as bytes.
    private static func key(_ token: String, _ title: String, _ body: String, _ data: [String: String]) -> String {
        "\(token)|\(title)|\(body)|\(data.sorted { $0.key < $1.key })".utf8.map { String($0, radix: 16) }.joined()
    }

    // MARK: The database

    /// The first column of a query's rows.
    func texts(_ sql: String) throws -> [String] {
        let database = try Database(path: database)
        defer { database.close() }
        return try database.read { try $0.query(sql, []).rows.map { text($0[0]) } }
    }

    private func text(_ value: ColumnValue) -> String { if case .text(let text) = value { text } else { "" } }

    private func number(_ sql: String, in database: Database) throws -> Int64? {
        try database.read { try $0.query(sql, []).rows.first?.first?.integer }
    }

    private struct Row {
        var id: String
        var state: String
    }

    /// From a copy, so that the next process finds the files as the last one left them.
    private func rows() throws -> [Row] {
        let copy = path + "/copy-\(UUID().uuidString).db"
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: database + suffix) {
            try FileManager.default.copyItem(atPath: database + suffix, toPath: copy + suffix)
        }
        let database = try Database(path: copy)
        defer { database.close() }
        return try database.read { try $0.outboxRows(limit: .max) }.map { Row(id: $0.apnsID, state: $0.state) }
    }
}
