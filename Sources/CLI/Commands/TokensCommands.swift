import Glibc
import Runtime

extension Command {
    static let tokensAdd = Command(
        name: "tokens add", summary: "register a device; its token comes on standard input",
        options: [
            .did, .platform,
            Option(
                name: "--environment", value: "ENV",
                help: "production or sandbox (default: the configuration's, or production)"),
            Option(name: "--topic", value: "ID", help: "the app's identifier, where it is not the configured one"),
            Option(name: "--label", value: "TEXT", help: "a note for yourself"),
            .json, .config, .database,
        ],
        notes: ["Prints the device's id. Registering a token again refreshes it and keeps its id."]
    ) { arguments in
        let did = try arguments.required(.did)
        let platform = try arguments.required(.platform)
        let configuration = try arguments.configuration()
        let device = try NewDevice(
            did: did, token: try tokenFromInput(), platform: platform,
            environment: arguments["--environment"] ?? configuration.push?.environment ?? "production",
            topic: arguments["--topic"], label: arguments["--label"])
        let tokens = try DeviceTokens(database: configuration.database)
        defer { tokens.close() }
        let id = try await tokens.add(device)
        let isJSON = arguments.has(Option.json.name)
        Console.shared.print(isJSON ? JSONText.object([("id", .integer(Int(id)))]).text : "\(id)")
    }

    static let tokensList = Command(
        name: "tokens list", summary: "list a person's devices, or everybody's",
        options: [.did, .json, .config, .database],
        notes: ["Of a token only the last 8 characters are shown."]
    ) { arguments in
        if let did = arguments[Option.did.name] { try checkDID(did) }
        let tokens = try DeviceTokens(database: try arguments.configuration().database)
        defer { tokens.close() }
        let devices = try tokens.list(did: arguments[Option.did.name])
        let console = Console.shared
        if arguments.has(Option.json.name) {
            console.print(JSONText.object([("tokens", .array(devices.map(\.json)))]).text)
        } else {
            for line in DeviceTokens.Listing.table(devices) { console.print(line) }
        }
    }

    static let tokensRemove = Command(
        name: "tokens remove", summary: "forget a device",
        operands: .one("ID"), options: [.did, .json, .config, .database],
        notes: ["With --did only where the device is that person's. What was queued for the device is dropped."]
    ) { arguments in
        guard let id = Int64(arguments.operands[0]), id > 0 else {
            throw OperatorError("\"\(arguments.operands[0])\" is no device's id: \"hark tokens list\" shows them")
        }
        let did = arguments[Option.did.name]
        if let did { try checkDID(did) }
        let tokens = try DeviceTokens(database: try arguments.configuration().database)
        defer { tokens.close() }
        guard try await tokens.remove(id: id, did: did) else {
            throw RunError("there is no device \(id)\(did.map { " of \($0)" } ?? "")")
        }
        let isJSON = arguments.has(Option.json.name)
        Console.shared.print(isJSON ? JSONText.object([("removed", .integer(Int(id)))]).text : "removed \(id)")
    }

    /// The token: all of standard input, without the space around it.
    private static func tokenFromInput() throws(OperatorError) -> String {
        if Console.shared.inputIsTerminal { Console.shared.complain("paste the token, then Enter and Ctrl-D") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= 64 << 10 {
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            bytes += chunk[..<count]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw OperatorError("what came on standard input is not text")
        }
        let isSpace = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    private static func checkDID(_ did: String) throws(OperatorError) {
        if !NewDevice.isDID(did) { throw OperatorError("\"\(did)\" is not a DID") }
    }
}

extension Option {
    fileprivate static let did = Option(name: "--did", value: "DID", help: "whose device it is")
    fileprivate static let platform = Option(name: "--platform", value: "apns", help: "the push service")
}

extension DeviceTokens.Listing {
    fileprivate var json: JSONText {
        .object([
            ("id", .integer(Int(id))), ("did", .string(did)), ("platform", .string(platform)),
            ("environment", .string(environment)), ("topic", .optional(topic)), ("label", .optional(label)),
            ("locale", .optional(locale)), ("suffix", .string(suffix)), ("createdAt", .string(createdAt)),
            ("lastSeenAt", .string(lastSeenAt)), ("failedAt", .optional(failedAt)), ("failure", .optional(failure)),
        ])
    }

    private var fault: String { failure.map { "\($0) at \(failedAt ?? "")" } ?? "" }

    fileprivate static func table(_ devices: [DeviceTokens.Listing]) -> [String] {
        guard !devices.isEmpty else { return ["no devices"] }
        let rows =
            [["id", "did", "platform", "environment", "token", "last seen", "label", "fault"]]
            + devices.map {
                [
                    "\($0.id)", $0.did, $0.platform, $0.environment, "…\($0.suffix)", $0.lastSeenAt, $0.label ?? "",
                    $0.fault,
                ].map(\.printable)
            }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.dropLast().map {
                row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count)
            }
            return (cells + row.suffix(1)).joined(separator: "  ")
        }
    }
}
