@testable import ATProto
import Testing

@testable import Storage

private let now: Int64 = 1_700_000_000_000
private let ada = "did:plc:ada"
private let follow = FollowRecords.grain.collection

@Suite struct PushSettingsTests {
    private let scratch: Scratch
    private let database: Database

    init() throws {
        scratch = try Scratch()
        database = try scratch.open()
        try register(ada)
    }

    private func register(_ did: String, _ token: String = "one") throws {
        try database.register(did, token, at: now)
    }

    @discardableResult
    private func put(_ push: Bool? = nil, _ types: PushSettings.Change..., for did: String = ada) throws
        -> PushSettings
    {
        try database.writeBlocking { try $0.changePushSettings(did: did, push: push, types: types) }
    }

    private func entry(_ type: String?, by actor: String = "did:plc:bob", to did: String = ada, uri: String? = nil)
        -> OutboxEntry
    {
        OutboxEntry(
            did: did, hook: "hook", uri: uri ?? "at://\(actor)/app.example.x/\(did)/\(type ?? "none")", rev: "r",
            place: 0, type: type,
            payload: Array("{}".utf8), collapseID: nil, priority: 10, pushType: "alert", expiresAt: now + 1000)
    }

    private func queue(_ entry: OutboxEntry) throws -> OutboxWrites {
        try database.writeBlocking { try $0.finish(job: 1, notifications: [entry], now: now) }
    }

    private var rowCount: Int { get throws { try database.texts("SELECT state FROM _push_queue").count } }

    /// Why the entry made no row; nil when it made one.
    private func objection(to entry: OutboxEntry) throws -> String? {
        let rows = try rowCount
        let writes = try queue(entry)
        #expect(try rowCount == rows + writes.queued)
        #expect(writes.queued + writes.turnedOff + writes.notFollowed == 1)
        guard writes.queued == 0 else { return nil }
        return try database.texts("SELECT reason FROM _push_notes ORDER BY id DESC LIMIT 1").first ?? nil
    }

    // MARK: What is stored

    @Test func whoHasSetNothingHasTheDefaultAndNoRow() throws {
        #expect(try database.read { try $0.pushSettings(did: ada) } == PushSettings())
        #expect(try put(true) == PushSettings())
        #expect(try database.number("SELECT count(*) FROM _push_settings") == 0)
    }

    @Test func changesMergeAndWhatIsForgottenIsGone() throws {
        try put(false, .init(type: "b", push: false), .init(type: "a", scope: .follows))
        let merged = try put(nil, .init(type: "a", push: false), .init(type: "c", push: true))
        #expect(
            merged
                == PushSettings(
                    push: false,
                    types: [
                        .init(type: "a", push: false, scope: .follows), .init(type: "b", push: false),
                        .init(type: "c"),
                    ]))
        #expect(try put(nil, .init(type: "b", push: true)).types[1] == .init(type: "b"))
        let less = try put(true, .init(type: "a"), .init(type: "b"))
        #expect(less == PushSettings(types: [.init(type: "c")]))
        #expect(try database.read { try $0.pushSettings(did: ada) } == less)
        #expect(try database.read { try $0.pushSettings(did: "did:plc:bob") } == PushSettings())
    }

    @Test func tooManyTypesChangeNothing() throws {
        let all = (0..<PushSettings.maximumTypes).map { PushSettings.Change(type: "type-\($0)", push: false) }
        let settings = try database.writeBlocking { try $0.changePushSettings(did: ada, types: all) }
        #expect(settings.types.count == 100)
        #expect(throws: PushSettings.TooManyTypes.self) { try put(false, .init(type: "one more", push: false)) }
        #expect(try database.read { try $0.pushSettings(did: ada) } == settings)
        // One of them makes room.
        #expect(try put(nil, .init(type: "type-7"), .init(type: "one more", push: false)).types.count == 100)
    }

    @Test(arguments: ["gallery-favorite", "'; DROP TABLE _push_settings; --", "\u{202E}rtl 📷", "é", "a\0b", " "])
    func typesAreComparedByTheirBytes(_ type: String) throws {
        try put(nil, .init(type: type, push: false))
        #expect(try objection(to: entry(type)) == "turned-off: \(type)")
        for other in [type + " ", "x" + type, type.uppercased() + "X", ""] {
            #expect(try objection(to: entry(other, uri: "at://did:plc:bob/a.b.c/\(other.utf8.count)\(other)")) == nil)
        }
    }

    @Test func equivalentTextsAreDifferentTypes() throws {
        try put(nil, .init(type: "caf\u{E9}", push: false))
        #expect(try objection(to: entry("cafe\u{301}")) == nil)
        #expect(try objection(to: entry("caf\u{E9}")) != nil)
    }

    // MARK: What is queued

    @Test func anAccountThatIsOffGetsNothingAndKeepsItsDevices() throws {
        try put(false, .init(type: "a", push: true))
        for type in ["a", "b", nil, ""] { #expect(try objection(to: entry(type)) == "turned-off") }
        #expect(try database.read { try $0.tokens(did: ada) }.count == 1)
        try register("did:plc:bob")
        #expect(try objection(to: entry("a", to: "did:plc:bob")) == nil)
        try put(true)
        #expect(try objection(to: entry("a")) == nil)
    }

    @Test func aTypeThatIsOffKeepsBackNoOther() throws {
        try put(nil, .init(type: "gallery-favorite", push: false, scope: .follows))
        #expect(try objection(to: entry("gallery-favorite")) == "turned-off: gallery-favorite")
        #expect(try objection(to: entry("gallery-comment")) == nil)
        #expect(try objection(to: entry(nil, uri: "at://did:plc:bob/a.b.c/2")) == nil)
        try put(nil, .init(type: "gallery-favorite", push: true, scope: .all))
        #expect(try objection(to: entry("gallery-favorite", uri: "at://did:plc:bob/a.b.c/3")) == nil)
    }

    @Test func whatWasKeptBackIsNoDuplicateLater() throws {
        try put(false)
        #expect(try objection(to: entry("a")) == "turned-off")
        try put(true)
        #expect(try objection(to: entry("a")) == nil)
        #expect(try queue(entry("a")).deduplicated == 1)
    }

    @Test func whoHasNoDeviceIsNotAsked() throws {
        try put(false, for: "did:plc:nobody")
        #expect(try queue(entry("a", to: "did:plc:nobody")).withoutToken == 1)
    }

    /// Settings and sends in one transaction and in neighbouring ones: a send heeds what was set before it.
    @Test func aSendHeedsTheSettingsBeforeIt() throws {
        for round in 0..<50 {
            let (first, second) = (entry("a", uri: "at://x/a.b.c/\(round)"), entry("a", uri: "at://x/a.b.d/\(round)"))
            let writes = try database.writeBlocking { transaction in
                _ = try transaction.changePushSettings(did: ada, push: false)
                let off = try transaction.finish(job: 1, notifications: [first], now: now)
                _ = try transaction.changePushSettings(did: ada, push: true)
                return [off, try transaction.finish(job: 1, notifications: [second], now: now)]
            }
            #expect(writes.map(\.turnedOff) == [1, 0] && writes.map(\.queued) == [0, 1])
        }
    }

    /// Whether alone in its transaction or among others.
    @Test(arguments: [0, 3]) func whatIsRolledBackWasNeverSet(_ neighbours: Int) throws {
        struct Stop: Error {}
        for (round, wish) in [false, true].enumerated() {
            try put(!wish)
            #expect(try objection(to: entry("before \(round)")) == (wish ? "turned-off" : nil))
            for _ in 0..<neighbours {
                database.submit { _ in
                } committed: { _ in
                }
            }
            let during = entry("during \(round)")
            #expect(throws: Stop.self) {
                try database.writeBlocking { transaction in
                    _ = try transaction.changePushSettings(did: ada, push: wish)
                    let writes = try transaction.finish(job: 1, notifications: [during], now: now)
                    #expect(writes.queued == (wish ? 1 : 0) && writes.turnedOff == (wish ? 0 : 1))
                    throw Stop()
                }
            }
            #expect(try objection(to: entry("after \(round)")) == (wish ? "turned-off" : nil))
        }
    }

    /// One hook's sends to many, some of whom want none: each has its own fate.
    @Test func eachRecipientOfABatchHasTheirOwnSettings() throws {
        let people = (0..<9).map { "did:plc:\($0)" }
        for (number, did) in people.enumerated() {
            try register(did, "token \(number)")
            if number % 3 == 1 { try put(false, for: did) }
            if number % 3 == 2 { try put(nil, .init(type: "a", scope: .follows), for: did) }
        }
        let entries = people.map { entry("a", to: $0) }
        let writes = try database.writeBlocking { try $0.finish(job: 1, notifications: entries, now: now) }
        #expect(writes.queued == 3 && writes.turnedOff == 3 && writes.notFollowed == 3)
        #expect(try database.texts("SELECT did FROM _push_queue ORDER BY id") == [people[0], people[3], people[6]])
        #expect(
            try database.texts("SELECT did || ' ' || reason FROM _push_notes ORDER BY id").map { $0 ?? "" }
                == [1, 2, 4, 5, 7, 8].map { "\(people[$0]) \($0 % 3 == 1 ? "turned-off" : "follows-unknown")" })
    }

    /// As `hark settings` does it beside a running Hark.
    @Test func anotherProcessesChangeCounts() throws {
        #expect(try objection(to: entry("a")) == nil)
        let other = try scratch.open()
        _ = try other.writeBlocking { try $0.changePushSettings(did: ada, push: false) }
        #expect(try objection(to: entry("b")) == "turned-off")
        other.close()
    }

    // MARK: From whom

    private func schema(_ properties: [Property]? = [Property(name: "subject", kind: .string(indexed: true))])
        -> RecordSchema
    {
        makeSchema(properties.map { [follow: $0] } ?? [:])
    }

    private func follows(
        _ follower: String, _ followed: String, _ schema: RecordSchema, _ action: Action = .create, rev: String = "a"
    ) throws {
        let record = map(["subject": .string(followed)])
        try database.apply(
            change(
                schema, action, follow, String(followed.suffix(3)), rev: rev, action == .delete ? nil : record,
                did: follower))
    }

    @Test(arguments: [true, false]) func onlyThoseWhomTheRecipientFollows(_ hasLexicon: Bool) throws {
        let schema = schema(hasLexicon ? [Property(name: "subject", kind: .string(indexed: true))] : nil)
        _ = try schema.migrate(database)
        try put(nil, .init(type: "a", scope: .follows))
        try follows("did:plc:bob", ada, schema)  // the other way round
        try follows("did:plc:adam", "did:plc:bob", schema)  // somebody whose DID begins alike
        #expect(try objection(to: entry("a")) == "not-followed")
        #expect(try objection(to: entry("b")) == nil)
        try follows(ada, "did:plc:bob", schema)
        #expect(try objection(to: entry("a")) == nil)
        #expect(try objection(to: entry("a", by: "did:plc:cay")) == "not-followed")
        #expect(try objection(to: entry("a", by: ada)) == "not-followed")
        try follows(ada, "did:plc:bob", schema, .delete, rev: "b")
        #expect(try objection(to: entry("a", uri: "at://did:plc:bob/a.b.c/2")) == "not-followed")
        #expect(try objection(to: entry("a", uri: "at:///a.b.c/3")) == nil)
        #expect(try objection(to: entry("a", uri: "an operator's")) == nil)
    }

    @Test func withoutFollowsNobodyIsFollowed() throws {
        try put(nil, .init(type: "a", scope: .follows))
        #expect(try objection(to: entry("a")) == "follows-unknown")
        #expect(try objection(to: entry("b")) == nil)
    }

    @Test func theRecordsThatFollowMayBeOthers() throws {
        let schema = makeSchema(["org.other.watch": [Property(name: "whom", kind: .string(indexed: true))]])
        _ = try schema.migrate(database)
        try database.writeBlocking { $0.follows = FollowRecords(collection: "org.other.watch", subject: "whom") }
        try put(nil, .init(type: "a", scope: .follows))
        #expect(try objection(to: entry("a")) == "not-followed")
        let record = map(["whom": .string("did:plc:bob")])
        try database.apply(change(schema, .create, "org.other.watch", "1", rev: "a", record, did: ada))
        #expect(try objection(to: entry("a")) == nil)
    }

    @Test func whoIsFollowedByManyIsFoundByAnIndex() throws {
        let schema = schema()
        _ = try schema.migrate(database)
        try put(nil, .init(type: "a", scope: .follows))
        #expect(try objection(to: entry("a")) == "not-followed")
        let sql = "EXPLAIN QUERY PLAN SELECT 1 FROM \"\(follow)\" WHERE \"subject\" = ? AND did = ? LIMIT 1"
        let plan = try database.read { connection in
            var lines: [String] = []
            try connection.prepare(sql).forEachRow { lines.append($0.text(3)) }
            return lines
        }
        #expect(plan.count == 1 && plan[0].contains("(subject=? AND did=?)"), "\(plan)")
    }

    /// Follows that were stored without a lexicon are found by their column once there is one.
    @Test func followsOutliveANewLexicon() throws {
        let bare = schema(nil)
        try put(nil, .init(type: "a", scope: .follows))
        try follows(ada, "did:plc:bob", bare)
        #expect(try objection(to: entry("a")) == nil)
        _ = try schema().migrate(database)
        #expect(try objection(to: entry("a", uri: "at://did:plc:bob/a.b.c/2")) == nil)
        #expect(try objection(to: entry("a", by: "did:plc:cay")) == "not-followed")
        #expect(try database.number("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%+did'") == 2)
    }

    /// The index is made in the middle of a transaction; when that fails, the next one makes it.
    @Test func theIndexOfAFailedTransactionIsMadeAgain() throws {
        struct Stop: Error {}
        let schema = schema()
        _ = try schema.migrate(database)
        try put(nil, .init(type: "a", scope: .follows))
        let kept = entry("a")
        #expect(throws: Stop.self) {
            try database.writeBlocking { transaction in
                _ = try transaction.finish(job: 1, notifications: [kept], now: now)
                throw Stop()
            }
        }
        #expect(try database.number("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%+did'") == 0)
        #expect(try objection(to: kept) == "not-followed")
        #expect(try database.number("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%+did'") == 1)
        try follows(ada, "did:plc:bob", schema)
        #expect(try objection(to: kept) == nil)
    }
}
