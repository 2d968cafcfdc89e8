/// What came of asking for a row not to be sent any more.
public enum OutboxDrop: Sendable, Hashable {
    case dropped
    case noSuchRow
    /// In this state there is nothing to drop: it is being sent, or has ended.
    case inState(String)
}

extension Transaction {
    /// Gives up a dead or waiting row for good. It stays, so that the same notification is not queued again, until the
    /// retention ends.
    /// - Parameter now: milliseconds since 1970.
    public func dropPush(_ id: Int64, now: Int64) throws -> OutboxDrop {
        try checkOpen()
        let find = try connection.statement("SELECT state FROM _push_queue WHERE id = ?")
        find.bind(1, id)
        guard let state = try find.first({ $0.text(0) }) else { return .noSuchRow }
        switch PushState(rawValue: state) {
        case .dead:
            let update = try connection.statement("UPDATE _push_rows SET state = 'dropped' WHERE id = ?")
            update.bind(1, id)
            try update.run()
        case .available, .retry: try settleWaiting(row: id, .dropped, error: "dropped while it waited", now: now)
        case .running, .sent, .expired, .removed, .dropped, nil: return .inState(state)
        }
        return .dropped
    }

    /// Gives up dead rows, the oldest first; returns how many.
    public func dropDeadPushes(limit: Int) throws -> Int {
        try checkOpen()
        let update = try connection.statement(
            """
            UPDATE _push_rows SET state = 'dropped' WHERE id IN (
                SELECT id FROM _push_rows INDEXED BY _push_rows_dead WHERE state = 'dead' ORDER BY id LIMIT ?)
            """)
        update.bind(1, Int64(limit))
        try update.run()
        return update.changes
    }
}
