import Storage

/// What became of a notification that was sent by hand, device by device.
public struct DirectPushReport: Sendable {
    public let did: String
    private(set) var rows: [OutboxRow]
    /// Why there is no row, or not one for each device.
    let notes: [OutboxNote]

    init(did: String, rows: [OutboxRow], notes: [OutboxNote]) {
        self.did = did
        self.rows = rows
        self.notes = notes
    }

    /// Takes what the rows are like now; a device that is gone keeps its suffix.
    mutating func update(_ fresh: [OutboxRow]) {
        for var row in fresh {
            guard let index = rows.firstIndex(where: { $0.id == row.id }) else { continue }
            row.tokenSuffix = row.tokenSuffix ?? rows[index].tokenSuffix
            row.environment = row.environment ?? rows[index].environment
            rows[index] = row
        }
    }

    /// Nothing more will happen soon: every row has ended, or waits for another key.
    var isSettled: Bool { rows.allSatisfy { $0.hasEnded || $0.waitsForKey } }

    public var sent: Int { rows.count { $0.state == "sent" } }

    /// What is wrong, in a line; nil when every device was reached.
    public var failure: String? {
        if rows.isEmpty {
            let hasNone = notes.isEmpty || notes.contains { $0.reason == OutboxNote.noToken }
            return hasNone ? "\(did) has no device registered" : notes.first?.sentence
        }
        guard sent < rows.count else { return nil }
        let devices = rows.count == 1 ? "the device" : "\(rows.count - sent) of \(rows.count) devices"
        let waiting = rows.contains { !$0.hasEnded }
        return "\(devices) not reached" + (waiting ? ": what is not sent stays queued" : "")
    }

    /// For people, a line a device.
    public var lines: [String] {
        rows.map { row in "…\(row.tokenSuffix ?? "")  \(row.environment ?? "")  \(row.fate)".printable }
    }

    /// What `hark push send --json` prints.
    public var json: JSONText {
        .object([
            ("did", .string(did)), ("sent", .integer(sent)), ("devices", .array(rows.map(\.json))),
            ("notes", .array(notes.map(\.json))),
        ])
    }
}

extension OutboxRow {
    var hasEnded: Bool {
        switch state {
        case "available", "running", "retry": false
        default: true
        }
    }

    fileprivate var waitsForKey: Bool { state == "retry" && error?.hasPrefix("key stopped") == true }
}
