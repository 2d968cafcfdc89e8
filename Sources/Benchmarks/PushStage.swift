import Foundation
import HookKit
import Net
import Push
import Storage
import Synchronization

/// A database with devices, and delivery to the counterpart: what the running Hark has, without its firehose.
final class PushStage: Sendable {
    static let devices = 10_000

    let push: PushService
    let database: Database
    /// Rows whose insertion is committed.
    private let written = Mutex(0)

    /// - Parameter scratch: an empty folder.
    init(scratch: String, to counterpart: Counterpart) throws {
        database = try Database(path: scratch + "/hark.db", claimingRunner: true)
        let tokens = SamplePush(devices: Self.devices).tokens
        _ = try database.writeBlocking { transaction in
            for (device, token) in tokens.enumerated() {
                _ = try transaction.register(
                    NewPushToken(
                        did: SamplePush.did(device), token: token, platform: "apns", environment: "production"),
                    now: 1_700_000_000_000)
            }
        }
        let configuration = APNsConfiguration(
            keyPEM: try SelfSignedCertificate().keyPEM, keyID: "BENCHKEY01", teamID: "BENCHTEAM1",
            bundleID: "com.example.grain", standIn: Endpoint(host: "127.0.0.1", port: counterpart.port),
            caFile: counterpart.caFile)
        push = try PushService(
            database: database, apns: configuration,
            emit: Emit { _, op, fields in say("push \(op) \(fields)", to: 2) })
    }

    /// Waits for every push to be recorded, and closes. `sent`: how many there were.
    func finish(sent: Int) async throws {
        let left = await push.drain(giveUpAfter: .seconds(20))
        let counts = push.counts
        await push.stop(deadline: .seconds(5))
        database.close()
        guard left == 0, counts.sent == sent else {
            throw BenchmarkError("\(sent) pushes: \(counts), \(left) left in the outbox")
        }
    }

    /// Like a hook's run each: `push.send`, and the end of the job's transaction.
    ///
    /// - Parameter numbers: the pushes' places; they make the dedupe keys.
    /// - Parameter due: milliseconds since 1970, by place; now when nil.
    func send(_ numbers: Range<Int>, stamp: (Int) -> UInt64, due: Int64? = nil) async throws {
        let entries = numbers.compactMap { number in
            push.entry(
                for: SamplePush.notification(to: number % Self.devices, stamp: stamp(number)),
                origin: SendOrigin(
                    hook: "on-commit-favorite", uri: "at://did:plc:sender/social.grain.favorite/\(number)",
                    rev: Self.revision(number), place: 0))
        }
        let time = due ?? Int64(Date().timeIntervalSince1970 * 1000)
        let queued = try await database.write { transaction in
            try transaction.finish(job: 0, notifications: entries, now: time)
        }
        guard queued == numbers.count else { throw BenchmarkError("\(queued) of \(numbers.count) were queued") }
        push.wake()
    }

    /// A TID, as a repo's `rev` is: a millisecond later each.
    private static func revision(_ number: Int) -> String {
        let alphabet = Array("234567abcdefghijklmnopqrstuvwxyz")
        let time = (1_750_000_000_000_000 + UInt64(number) * 1000) << 10
        return String((0..<13).map { alphabet[Int(time >> UInt64(60 - 5 * $0) & 31)] })
    }
}
