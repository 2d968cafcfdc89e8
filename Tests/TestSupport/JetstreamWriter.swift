import ATProto

/// Writes the Jetstream lines of a small story: each commit gets the next rev, and its record's true CID.
public struct JetstreamWriter {
    public private(set) var text = ""
    /// The latest rev's number.
    private var tick: Int64 = 0

    public init() {}

    /// `did:plc:` and a made-up identifier that starts with `name`.
    public static func did(_ name: String) -> String {
        "did:plc:" + name + String(repeating: "a", count: 24 - name.count)
    }

    public mutating func commit(
        _ action: Action, _ collection: String, by did: String, rkey: String, _ record: Value? = nil
    ) {
        tick += 1
        let record = record.map { Self.typed($0, collection) }
        var commit: [ValueMap.Entry] = [
            .init(key: "rev", value: .string(Self.rev(tick))),
            .init(key: "operation", value: .string(action.rawValue)),
            .init(key: "collection", value: .string(collection)),
            .init(key: "rkey", value: .string(rkey)),
        ]
        if let record {
            let cid = CID.dagCBOR(of: DAGCBOR.encode(record))
            commit.append(.init(key: "record", value: record))
            commit.append(.init(key: "cid", value: .string(cid.description)))
        }
        line([
            .init(key: "did", value: .string(did)),
            .init(key: "time_us", value: .integer(1_783_175_888_000_000 + tick)),
            .init(key: "kind", value: .string("commit")),
            .init(key: "commit", value: .map(ValueMap(commit) ?? ValueMap())),
        ])
    }

    /// Adds a line as it is.
    public mutating func raw(_ line: String) { text += line + "\n" }

    /// The last line once more.
    public mutating func redeliver() {
        let last = text.split(separator: "\n").last ?? ""
        raw(String(last))
    }

    private mutating func line(_ entries: [ValueMap.Entry]) {
        raw(String(decoding: JSON.encode(.map(ValueMap(entries) ?? ValueMap())), as: UTF8.self))
    }

    private static func typed(_ record: Value, _ collection: String) -> Value {
        let entries = record.map?.entries ?? []
        return .map(ValueMap(entries + [.init(key: "$type", value: .string(collection))]) ?? ValueMap())
    }

    /// Revs count upwards from a fixed time.
    private static func rev(_ tick: Int64) -> String {
        let alphabet = Array("234567abcdefghijklmnopqrstuvwxyz")
        var number = UInt64(1_783_175_888_000_000 + tick) << 10
        var letters: [Character] = []
        for _ in 0..<13 {
            letters.append(alphabet[Int(number & 31)])
            number >>= 5
        }
        return String(letters.reversed())
    }
}

extension Value: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral
{
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .map(ValueMap(elements.map { .init(key: $0.0, value: $0.1) }) ?? ValueMap())
    }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
}
