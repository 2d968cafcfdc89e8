import Foundation
import HookKit
import Net
import Push
import Storage

/// A database with devices, and delivery to the counterpart: what the running Hark has, without its firehose.
final class PushStage: Sendable {
    static let devices = 10_000

    let push: PushService
    let database: Database

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

    /// Waits until every push is recorded. `count`: how many there were.
    func allSent(_ count: Int) async throws {
        let left = await push.drain(giveUpAfter: .seconds(20))
        guard left == 0, push.counts.sent == count else {
            throw BenchmarkError("\(count) pushes: \(push.counts), \(left) left in the outbox")
        }
    }

    func close() async {
        await push.stop(deadline: .seconds(5))
        database.close()
    }

    /// What a hook is about to send, and where it comes from. An object, so that handing it on costs next to nothing.
    final class Send: Sendable {
        let notification: HookKit.Notification
        let origin: SendOrigin

        init(_ number: Int, stamp: UInt64) {
            notification = SamplePush.notification(to: number % PushStage.devices, stamp: stamp)
            origin = SendOrigin(
                hook: "on-commit-favorite", uri: "at://did:plc:sender/social.grain.favorite/\(number)",
                rev: PushStage.revision(number), place: 0)
        }
    }

    /// `push.send` for each, and the end of the job's transaction.
    ///
    /// - Parameter due: milliseconds since 1970; now when nil.
    func send(_ sends: some Sequence<Send>, due: Int64? = nil) async throws {
        let entries = sends.compactMap { push.draft(of: $0.notification, origin: $0.origin).entry }
        let time = due ?? Int64(Date().timeIntervalSince1970 * 1000)
        let writes = try await database.write { transaction in
            try transaction.finish(job: 0, notifications: entries, now: time)
        }
        guard writes.queued == entries.count else {
            throw BenchmarkError("\(writes.queued) of \(entries.count) were queued")
        }
    }

    /// A TID, as a repo's `rev` is: a millisecond later each.
    static func revision(_ number: Int) -> String {
        let alphabet = Array("234567abcdefghijklmnopqrstuvwxyz")
        let time = (1_750_000_000_000_000 + UInt64(number) * 1000) << 10
        return String((0..<13).map { alphabet[Int(time >> UInt64(60 - 5 * $0) & 31)] })
    }
}
