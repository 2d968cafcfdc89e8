import Crypto
import Foundation
import HookKit
import Net
import Simulators
import Synchronization

@testable import Push
@testable import Storage

/// A database, a stand-in for Apple and a sender between them.
final class Bench: Sendable {
    static let bundleID = "com.example.app"

    private let folder: Folder
    let database: Database
    let service: PushService
    let clock: any PushClock
    let configuration: APNsConfiguration
    private let scripted: Gateway?
    private let log: Log

    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// With a gateway that follows a script.
    convenience init(
        tuning: PushTuning = PushTuning(), clock: any PushClock = TestClock(),
        options: HTTP2Server.Options = HTTP2Server.Options(), separateSandbox sandbox: Gateway? = nil,
        script: @escaping Gateway.Script
    ) throws {
        let gateway = try Gateway(options: options, script: script)
        try self.init(gateway: gateway, tuning: tuning, clock: clock, separateSandbox: sandbox)
    }

    /// - Parameter aim: where pushes go; to the gateway when nil.
    convenience init(
        gateway: Gateway, aim: Endpoint? = nil, tuning: PushTuning = PushTuning(), clock: any PushClock = TestClock(),
        separateSandbox sandbox: Gateway? = nil
    ) throws {
        let credentials = try APNsCredentials.generate(bundleID: Self.bundleID)
        let gateways = sandbox.map { [APNsEnvironment.production: gateway.endpoint, .sandbox: $0.endpoint] }
        try self.init(
            credentials, caPEM: gateway.caPEM, aim: aim ?? gateway.endpoint, tuning: tuning, clock: clock,
            gateways: gateways, scripted: gateway)
    }

    /// With a simulator, which stays the caller's.
    convenience init(
        simulator: APNsSimulator, credentials: APNsCredentials, tuning: PushTuning = PushTuning(),
        clock: any PushClock = TestClock(start: SystemClock().now)
    ) throws {
        let aim = Endpoint(host: "127.0.0.1", port: simulator.port)
        try self.init(credentials, caPEM: simulator.caPEM, aim: aim, tuning: tuning, clock: clock)
    }

    /// With a server of another make, which stays the caller's.
    convenience init(server: ForeignServer, tuning: PushTuning) throws {
        let credentials = try APNsCredentials.generate(bundleID: Self.bundleID)
        let aim = Endpoint(host: "127.0.0.1", port: server.port)
        try self.init(credentials, caPEM: server.caPEM, aim: aim, tuning: tuning, clock: TestClock())
    }

    private init(
        _ credentials: APNsCredentials, caPEM: String, aim: Endpoint, tuning: PushTuning, clock: any PushClock,
        gateways: [APNsEnvironment: Endpoint]? = nil, scripted: Gateway? = nil
    ) throws {
        folder = try Folder()
        database = try Database(path: folder.path + "/test.db")
        self.scripted = scripted
        self.clock = clock
        let log = Log()
        self.log = log
        let emit = Emit { module, op, fields in
            let text = fields.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            log.lines.withLock { $0.append("\(module) \(op) \(text)") }
        }
        let caFile = folder.path + "/roots.pem"
        try caPEM.write(to: caFile)
        configuration = APNsConfiguration(
            keyPEM: credentials.keyPEM, keyID: credentials.keyID, teamID: credentials.teamID,
            bundleID: credentials.bundleID, standIn: aim, caFile: caFile)
        service = try PushService(
            database: database, apns: configuration, emit: emit, tuning: tuning, clock: clock, gateways: gateways)
        service.start()
    }

    deinit {
        scripted?.end()
        (clock as? TestClock)?.end()
        database.close()
    }

    /// The gateway with a script; a test that has none does not ask for it.
    var gateway: Gateway {
        guard let scripted else { preconditionFailure("this bench has a simulator") }
        return scripted
    }

    var lines: [String] { log.lines.withLock { $0 } }

    /// Registers devices of one person, the token's last characters being their number.
    @discardableResult
    func register(
        _ tokens: [String], did: String = "did:plc:ann", environment: String = "production", topic: String? = nil,
        platform: String = "apns"
    ) throws -> [Int64] {
        let now = clock.now - 1000
        return try database.writeBlocking { transaction in
            try tokens.map { token in
                try transaction.register(
                    NewPushToken(
                        did: did, token: token, platform: platform, environment: environment, topic: topic), now: now)
            }
        }
    }

    /// Queues `count` notifications for a person and wakes the sender.
    func send(_ count: Int = 1, did: String = "did:plc:ann", title: String = "Hello", from first: Int = 0) throws {
        let entries = (first..<first + count).compactMap { place in
            service.draft(
                of: Notification(did: did, title: title, body: "\(place)", data: ["uri": "at://x"]),
                origin: SendOrigin(hook: "hook", uri: "at://\(did)/a.b/c", rev: "rev", place: place)
            ).entry
        }
        let now = clock.now
        _ = try database.writeBlocking { try $0.finish(job: 0, notifications: entries, now: now) }
        service.wake()
    }

    /// Waits until no row is running, for as long as the test may take: what gave up waiting may be ahead of the records.
    func hasRecordedAll() async throws {
        while try rows().contains(where: { $0.state == "running" }) { await Task.yield() }
    }

    func drain() async -> Int { await service.drain(giveUpAfter: .seconds(3600)) }

    struct Row: Equatable {
        var state: String
        var attempts: Int
        var error: String?
    }

    func rows() throws -> [Row] {
        try database.read { connection in
            let statement = try connection.statement("SELECT state, attempts, last_error FROM _push_queue ORDER BY id")
            var rows: [Row] = []
            try statement.forEachRow {
                rows.append(
                    Row(state: $0.text(0), attempts: Int($0.integer(1)), error: $0.isNull(2) ? nil : $0.text(2)))
            }
            return rows
        }
    }

    func tokens() throws -> [String] { try database.read { try $0.tokens(did: nil) }.map(\.token).sorted() }

    /// How many tokens each environment has.
    func environments() throws -> [String: Int] {
        let tokens = try database.read { try $0.tokens(did: nil) }
        return Dictionary(tokens.map { ($0.environment, 1) }, uniquingKeysWith: +)
    }

    /// True when something secret stands in what was reported or in the outbox.
    func leaks(_ secrets: [String]) throws -> Bool {
        let texts = lines + (try rows().compactMap(\.error))
        return texts.contains { text in secrets.contains { text.contains($0) } }
    }
}

extension String {
    func write(to path: String) throws { try Data(utf8).write(to: URL(fileURLWithPath: path)) }
}

/// Device tokens as Apple makes them: 64 hexadecimal digits.
func deviceTokens(_ count: Int) -> [String] {
    (0..<count).map { number in
        let tail = String(number, radix: 16)
        return String(repeating: "c0ffee12", count: 7) + String(repeating: "0", count: 8 - tail.count) + tail
    }
}

/// A directory of its own, removed with it.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/hark-push-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Something that happens once.
final class Signal: Sendable {
    private let state = Mutex<(isSet: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func set() {
        let waiters = state.withLock { state in
            defer { state = (true, []) }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                if !state.isSet { state.waiters.append(continuation) }
                return state.isSet
            }
            if isSet { continuation.resume() }
        }
    }
}
