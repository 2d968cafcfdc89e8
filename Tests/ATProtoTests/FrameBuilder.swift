import Crypto

@testable import ATProto

/// Frames as a relay would send them, whole or with one thing wrong.
struct FrameBuilder {
    static let repo = "did:plc:7iza6de2dwap2sbkpav7c6c6"
    static let rev = "3mptbypluud2a"

    var type: Value? = .string("#commit")
    var op: Value = .integer(1)
    var body: [(key: String, value: Value)]

    static func map(_ entries: [(key: String, value: Value)]) -> Value {
        .map(ValueMap(entries.map { ValueMap.Entry(key: $0.key, value: $0.value) }) ?? ValueMap())
    }

    init(_ type: String, _ body: [(key: String, value: Value)]) {
        self.type = .string(type)
        self.body = body
    }

    /// A commit with these ops, whose CAR holds `blocks`.
    init(ops: [Value], blocks: [(cid: CID, bytes: [UInt8])] = []) {
        let root = CID.dagCBOR(of: [0xa0])
        body = [
            ("repo", .string(Self.repo)), ("rev", .string(Self.rev)), ("seq", .integer(7)), ("ops", .array(ops)),
            ("since", .null),
            ("commit", .link(root)), ("blobs", .array([])),
            ("blocks", .bytes(CAR.encode(roots: [root], blocks: blocks))),
            ("time", .string("2026-07-04T14:38:07.517Z")), ("tooBig", .bool(false)), ("rebase", .bool(false)),
        ]
    }

    static func op(_ action: String, _ path: String, _ cid: CID?) -> Value {
        map([("action", .string(action)), ("path", .string(path)), ("cid", cid.map(Value.link) ?? .null)])
    }

    /// A record, as the block that holds it.
    static func record(_ text: String) -> (cid: CID, bytes: [UInt8], value: Value) {
        let value = map([("$type", .string("com.example.note")), ("text", .string(text))])
        let bytes = DAGCBOR.encode(value)
        return (CID.dagCBOR(of: bytes), bytes, value)
    }

    mutating func set(_ key: String, _ value: Value?) {
        body.removeAll { $0.key == key }
        if let value { body.append((key, value)) }
    }

    var bytes: [UInt8] {
        let header = [("op", op)] + (type.map { [("t", $0)] } ?? [])
        return DAGCBOR.encode(Self.map(header)) + DAGCBOR.encode(Self.map(body))
    }
}
