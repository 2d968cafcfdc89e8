import Storage

/// One transaction of the outbox's worker: settles what has ended, then claims what is due. Times in milliseconds.
struct OutboxStep: Sendable {
    var ends: [PushEnd]
    /// Rows to claim at most.
    var claims: Int
    /// Since 1970.
    var now: Int64
    /// How long a claimed row is its claimer's.
    var lease: Int64
    /// Rows that were taken before are still on their way: however long that takes, or time has leapt, they are nobody else's.
    var keepsLeases = false

    struct Outcome: Sendable {
        var settled = SettledPushes()
        var claimed = ClaimedPushes()
        /// Rows were asked for, and fewer were due.
        var isAll = false
        /// When the next row is due, if all that were due are claimed.
        var nextDue: Int64?
    }

    func run(in transaction: Transaction, _ crash: CrashPoints?) throws -> Outcome {
        var outcome = Outcome()
        if !ends.isEmpty {
            outcome.settled = try settle(in: transaction)
            crash?.reach(.beforeOutcomeCommit)
        }
        guard claims > 0 else { return outcome }
        if keepsLeases { try transaction.renewLeases(endingBy: now + lease / 2, until: now + lease) }
        outcome.claimed = try transaction.claimPushes(limit: claims, now: now, leaseUntil: now + lease)
        outcome.isAll = outcome.claimed.pushes.count < claims
        if outcome.isAll { outcome.nextDue = try transaction.connection.nextPushDue() }
        return outcome
    }

    private func settle(in transaction: Transaction) throws -> SettledPushes {
        let settled = try transaction.settle(ends.map(\.settlement), now: now)
        for end in ends {
            guard let correction = end.correction else { continue }
            try transaction.correctEnvironment(
                token: end.settlement.tokenID, from: correction.wrong.rawValue, to: correction.right.rawValue)
        }
        return settled
    }
}
