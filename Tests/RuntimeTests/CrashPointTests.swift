import Foundation
import Storage
import TestSupport
import Testing

@testable import Runtime

/// `kill -9` at each named instant of the durable path, twice in a row, and a third process that finishes: promises 1
/// and 4 hold to the row.
@Suite(.timeLimit(.minutes(5)), .fewAtATime) struct CrashPointTests {
    private static let sweeping: [CrashPoint] = [.beforeSweepCommit, .afterSweepCommit]
    private static let checkpointing: [CrashPoint] = [.beforeCheckpoint, .afterCheckpoint]
    /// Where the first process has not sent anything yet.
    private static let beforeAnySend: [CrashPoint] = [
        .beforeBatchCommit, .afterCommitBeforeDispatch, .afterHookBeforeCommit, .beforeOutboxCommit,
        .afterOutboxCommitBeforeHandover, .afterHandoverBeforeSend,
    ]

    private func crash(_ stage: CrashStage, at point: CrashPoint, retention days: Int = 1) async throws {
        _ = await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                folder = stage.path as String, port = stage.port as Int, name = point.rawValue as String,
                seconds = days * 86_400 as Int
            ] in
            let point = try #require(CrashPoint(rawValue: name))
            try await CrashStage.replay(
                in: folder, port: port, retention: .seconds(seconds), crash: CrashStage.deadly(point),
                handsOver: point == .afterHandoverBeforeSend)
        }
        try stage.noteKill()
    }

    @Test(arguments: CrashPoint.allCases.filter { !sweeping.contains($0) })
    func losesAndDoublesNothing(_ point: CrashPoint) async throws {
        let isCheckpoint = Self.checkpointing.contains(point)
        // The log is copied when it is long and the writer has had nothing to do for a while, else at the end.
        let stage = try await CrashStage(
            events: isCheckpoint ? 1500 : 400, answersAfter: .milliseconds(isCheckpoint ? 400 : 30))
        try await crash(stage, at: point)
        if Self.beforeAnySend.contains(point) { #expect(stage.received.isEmpty) }
        // One stream until the first answer.
        if point == .afterSendBeforeAnswer || point == .afterAnswerBeforeRecord { #expect(stage.received.count <= 1) }
        try await crash(stage, at: point)
        try await stage.finish()
        try stage.expectWholeRecords()
        try stage.expectEachPushRecordedOnce()
        stage.expectNoInexcusableDouble()
    }

    @Test(arguments: [CrashPoint.afterAnswerBeforeRecord, .beforeOutcomeCommit, .afterOutcomeCommit])
    func forgetsDeadDevicesAlone(_ point: CrashPoint) async throws {
        let stage = try await CrashStage(events: 400, answersAfter: .zero, knowsDead: true)
        for _ in 0..<3 { try await crash(stage, at: point) }
        try await stage.finish()
        try stage.expectDeadDevicesGone()
        try stage.expectEachPushRecordedOnce()
        stage.expectNoInexcusableDouble()
    }

    @Test(arguments: sweeping)
    func sweepsWithoutSendingAgain(_ point: CrashPoint) async throws {
        let stage = try await CrashStage(events: 1000, answersAfter: .zero)
        try await stage.finish()
        let pushes = stage.received.count
        let rows = try stage.rowCount
        #expect(rows > 500, "more than one step of the sweep")
        try await crash(stage, at: point, retention: 0)
        #expect(try stage.rowCount == (point == .beforeSweepCommit ? rows : rows - 500))
        try await crash(stage, at: point, retention: 0)
        try await stage.finish()
        try stage.expectWholeRecords()
        #expect(stage.received.count == pushes)
    }
}
