import Runtime
import Simulators

extension Command {
    static let simulatePLC = Command(
        name: "simulate plc", summary: "stand in for the PLC directory, on loopback, with invented accounts",
        options: [
            Option(name: "--port", value: "P", help: "the port (default: any that is free)"),
            Option(name: "--fault", value: "FAULT[@DID]", help: "what it does wrong: \(PLCFault.forms)", repeats: true),
            Option(name: "--seed", value: "N", help: "the evening whose people it lists (default: Firehose's)"),
            Option(name: "--events", value: "N", help: "… as in simulate recording"),
            Option(name: "--people", value: "N", help: "… as in simulate recording"),
            Option(name: "--token", value: "DID", help: "print a service token of this account, and end"),
            Option(name: "--aud", value: "DID", help: "… for this server"),
            Option(name: "--lxm", value: "NSID", help: "… for a call of this method"),
            Option(name: "--exp", value: "SECONDS", help: "… that expires then (default: 60)"),
        ],
        notes: [
            "Lists the people of the evening that simulate recording writes with the same flags, and an account of each",
            "kind: P-256 and K-256, in today's form and the older one, without a key, given up. Keys follow from the seed.",
            "GET /_simulate/identities lists them, GET /_simulate/token?did=…&aud=…&lxm=… signs a token,",
            "POST /_simulate/rotate?did=… and /_simulate/tombstone?did=… change one, /_simulate/account?did=…&key=did:key:…",
            "adds one. Ends with Ctrl-C.",
        ]
    ) { arguments in
        let evening = try evening(arguments)
        let identities = PLCIdentity.oddities(seed: evening.seed) + PLCIdentity.people(of: evening)
        let console = Console.shared
        if let did = arguments["--token"] {
            return console.print(try token(of: did, among: identities, arguments))
        }
        if let flag = ["--aud", "--lxm", "--exp"].first(where: arguments.has) {
            throw OperatorError("\(flag) needs --token DID")
        }
        var options = PLCSimulator.Options(identities: identities)
        if let text = arguments["--port"] {
            guard let port = UInt16(text) else { throw OperatorError("--port must be a number up to 65535") }
            options.port = port
        }
        let simulator: PLCSimulator
        do {
            options.faults = try arguments.flags.filter { $0.name == "--fault" }.map { try PLCFault.Rule($0.value) }
            simulator = try PLCSimulator(options)
        } catch {
            throw OperatorError("\(error)")
        }
        for line in introduction(of: simulator, identities) { console.print(line) }
        await untilInterrupted()
        console.print("\(simulator.requests().of("request")) for documents")
        await simulator.stop()
    }

    private static func evening(_ arguments: Arguments) throws(OperatorError) -> GrainEvening {
        guard ["--seed", "--events", "--people"].contains(where: arguments.has) else { return .shipped }
        return try arguments.evening()
    }

    private static func token(
        of did: String, among identities: [PLCIdentity], _ arguments: Arguments
    ) throws -> String {
        guard let identity = identities.first(where: { $0.did == did }) else {
            throw OperatorError("there is no account \(did) here: \"hark simulate plc\" names some")
        }
        guard let audience = arguments["--aud"], let method = arguments["--lxm"] else {
            throw OperatorError("--token needs --aud DID, the server, and --lxm NSID, the method")
        }
        let lifetime = arguments["--exp"] ?? "60"
        guard let seconds = Int64(lifetime), abs(seconds) < 1 << 32 else {
            throw OperatorError("--exp must be a number of seconds, not \"\(lifetime)\"")
        }
        return try identity.serviceToken(.init(audience: audience, method: method, lifetime: seconds))
    }

    private static let shown = 8

    private static func introduction(of simulator: PLCSimulator, _ identities: [PLCIdentity]) -> [String] {
        let lines = [
            "listening on \(simulator.url) with \(identities.count.of("account")); in hark.json5:",
            "  plc: \"\(simulator.url)\",", "among the accounts:",
        ]
        let accounts = identities.prefix(shown).map { "  \($0.did)  \($0.handle), \($0.algorithm)" }
        return lines + accounts + ["all of them: \(simulator.url)/_simulate/identities"]
    }
}
