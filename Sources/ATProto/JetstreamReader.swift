/// Reads one Jetstream line in one pass; what comes before the field that decides about it is read again.
struct JetstreamReader {
    private var reader: JSONReader
    private let keep: CollectionFilter
    private var did: String?
    private var kind: String?
    private var time: Int64?
    /// Where each section starts that came before `kind` did, or is not `kind`'s.
    private var sections = Sections()
    private var commit: JetstreamCommit?
    private var seen: UInt8 = 0

    private struct Sections {
        var commit: Int?
        var identity: Int?
        var account: Int?
    }

    /// `bytes` must stay in place and unchanged while the reader is used.
    init(_ bytes: UnsafeBufferPointer<UInt8>, keep: CollectionFilter) {
        reader = JSONReader(bytes, dialect: .dataModel)
        self.keep = keep
    }

    mutating func event() throws(JSONReader.Fault) -> Event {
        guard reader.take(UInt8(ascii: "{")) else { throw reader.fault(.grammar, "a line must be a JSON object") }
        if !reader.take(UInt8(ascii: "}")) {
            repeat { try field(try reader.key()) } while reader.take(UInt8(ascii: ","))
            try reader.expect(UInt8(ascii: "}"), "a comma or the object's end is missing")
        }
        try reader.finish()
        guard let kind else { throw reader.fault(.model, "no kind", at: 0) }
        switch kind {
        case "commit": return .commit(try commitEvent())
        case "identity": return .identity(try identityEvent())
        case "account": return .account(try accountEvent())
        default: return .info(name: kind, message: nil)
        }
    }

    private mutating func field(_ key: String) throws(JSONReader.Fault) {
        reader.skipWhitespace()
        switch key {
        case "did":
            try once(1)
            did = try reader.string(named: key)
        case "kind":
            try once(2)
            kind = try reader.string(named: key)
        case "time_us":
            try once(4)
            time = try reader.integer(named: key)
        case "commit":
            try once(8)
            if kind == key {
                commit = try JetstreamCommit(&reader, keep: keep)
            } else {
                sections.commit = reader.position
                try reader.skipValue()
            }
        case "identity":
            try once(16)
            sections.identity = reader.position
            try reader.skipValue()
        case "account":
            try once(32)
            sections.account = reader.position
            try reader.skipValue()
        default: try reader.skipValue()
        }
    }

    private mutating func once(_ bit: UInt8) throws(JSONReader.Fault) {
        guard seen & bit == 0 else { throw reader.fault(.model, "a duplicate key") }
        seen |= bit
    }

    private func repo() throws(JSONReader.Fault) -> DID {
        guard let did else { throw reader.fault(.model, "no did", at: 0) }
        do { return try DID(did) } catch { throw reader.fault(.model, error.description, at: 0) }
    }

    // MARK: Events

    private mutating func commitEvent() throws(JSONReader.Fault) -> Commit {
        if commit == nil, let start = sections.commit {
            reader.position = start
            commit = try JetstreamCommit(&reader, keep: keep)
        }
        guard var commit else { throw reader.fault(.model, "a commit event without a commit", at: 0) }
        let repo = try repo()
        guard let text = commit.rev, let rev = try? TID(text) else {
            throw reader.fault(.model, "rev is no TID", at: 0)
        }
        var event = Commit(
            repo: repo, rev: rev, seq: nil, timeMicroseconds: time, ops: [], dropped: [], ignoredOps: 0)
        guard commit.isKept(keep) else {
            event.ignoredOps = 1
            return event
        }
        switch try commit.op(&reader) {
        case .success(let op): event.ops.append(op)
        case .failure(let unusable):
            event.dropped.append(
                DroppedOp(path: commit.path, reason: unusable.reason, message: unusable.message))
        }
        return event
    }

    private mutating func identityEvent() throws(JSONReader.Fault) -> IdentityUpdate {
        let repo = try repo()
        var handle: Handle?
        var seq: Int64?
        try section(sections.identity, "identity") { (reader, key) throws(JSONReader.Fault) in
            switch key {
            // A handle that is none leaves the account without one; its identity has changed all the same.
            case "handle": handle = try? Handle(try reader.string(named: key))
            case "seq": seq = try reader.integer(named: key)
            default: try reader.skipValue()
            }
        }
        return IdentityUpdate(did: repo, handle: handle, seq: seq)
    }

    private mutating func accountEvent() throws(JSONReader.Fault) -> AccountUpdate {
        let repo = try repo()
        var active: Bool?
        var status: String?
        var seq: Int64?
        try section(sections.account, "account") { (reader, key) throws(JSONReader.Fault) in
            switch key {
            case "active": active = try reader.bool(named: key)
            case "status": status = try reader.string(named: key)
            case "seq": seq = try reader.integer(named: key)
            default: try reader.skipValue()
            }
        }
        guard let active else { throw reader.fault(.model, "an account event without active", at: 0) }
        return AccountUpdate(did: repo, active: active, status: status, seq: seq)
    }

    /// Reads the members of the section that starts at `start`.
    private mutating func section(
        _ start: Int?, _ name: String,
        member: (inout JSONReader, String) throws(JSONReader.Fault) -> Void
    ) throws(JSONReader.Fault) {
        guard let start else { throw reader.fault(.model, "no \(name)", at: 0) }
        reader.position = start
        try reader.members(of: name, member)
    }
}

extension JSONReader {
    /// Calls `member` with each member name of the object that comes next, the reader being at the member's value.
    mutating func members(
        of name: String, _ member: (inout JSONReader, String) throws(Fault) -> Void
    ) throws(Fault) {
        guard take(UInt8(ascii: "{")) else { throw fault(.model, "\(name) must be an object") }
        if take(UInt8(ascii: "}")) { return }
        repeat {
            let key = try key()
            skipWhitespace()
            try member(&self, key)
        } while take(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"), "a comma or the object's end is missing")
    }

    mutating func string(named name: String) throws(Fault) -> String {
        guard next == UInt8(ascii: "\"") else { throw fault(.model, "\(name) must be a string") }
        return try string()
    }

    mutating func integer(named name: String) throws(Fault) -> Int64 {
        guard next == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= next else {
            throw fault(.model, "\(name) must be an integer")
        }
        return try integer()
    }

    mutating func bool(named name: String) throws(Fault) -> Bool {
        switch next {
        case UInt8(ascii: "t"):
            try literal("true")
            return true
        case UInt8(ascii: "f"):
            try literal("false")
            return false
        default: throw fault(.model, "\(name) must be true or false")
        }
    }
}
