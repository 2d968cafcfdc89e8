import Runtime
import Simulators

extension Command {
    static let simulateAPNs = Command(
        name: "simulate apns", summary: "stand in for Apple's push gateway, on loopback",
        options: [
            Option(name: "--port", value: "P", help: "the port (default: any that is free)"),
            Option(name: "--folder", value: "FOLDER", help: "where key, certificate and configuration go"),
            Option(name: "--topic", value: "ID", help: "the app's identifier (default: com.example.app)"),
            Option(
                name: "--dead", value: "TOKEN", help: "a device that is gone since the start: 410 Unregistered",
                repeats: true),
            Option(name: "--bad", value: "TOKEN", help: "a device that never was: 400 BadDeviceToken", repeats: true),
            Option(name: "--lenient", value: nil, help: "forgive what only the strictest gateways refuse"),
            Option(name: "--log", value: "FILE", help: "append a JSON line for each request; - for standard output"),
            Option(name: "--show-tokens", value: nil, help: "log whole tokens, not their last 8 characters"),
        ] + faultOptions,
        notes: [
            "A CONDITION is 25%, every=N, first=N, after=N, nth=N or token=SUFFIX, as in --answer 410:25%.",
            "Makes a key, a certificate and a hark.json5 anew, and prints how to aim Hark at itself. Ends with Ctrl-C.",
        ]
    ) { arguments in
        let console = Console.shared
        let credentials = try APNsCredentials.generate(bundleID: arguments["--topic"] ?? "com.example.app")
        let simulator = try asOperatorError { try APNsSimulator(try simulatorOptions(credentials, arguments)) }
        try asOperatorError { try simulator.start() }
        defer { simulator.stop() }
        let folder = try arguments["--folder"] ?? TemporaryFolder.make(prefix: "hark-apns").path
        let lines = try asOperatorError {
            try credentials.write(to: folder, caPEM: simulator.caPEM, port: simulator.port)
        }
        let writesLogToOutput = arguments["--log"] == "-"
        if !writesLogToOutput {
            console.print("listening on 127.0.0.1:\(simulator.port); to aim Hark at it:")
            for line in lines { console.print("  \(line.printable)") }
        }
        await untilInterrupted()
        if !writesLogToOutput { console.print(simulator.counts.line) }
    }

    private static let faultOptions = Faults.flags.map {
        Option(name: $0.name, value: $0.argument, help: $0.help, repeats: true)
    }

    private static func simulatorOptions(
        _ credentials: APNsCredentials, _ arguments: Arguments
    ) throws -> APNsSimulator.Options {
        var options = APNsSimulator.Options(providers: [credentials])
        options.keepsPushes = false
        for (name, value) in arguments.flags {
            switch name {
            case "--port":
                guard let port = UInt16(value) else { throw OperatorError("--port must be a number up to 65535") }
                options.port = port
            case "--dead": options.deadTokens.updateValue(nil, forKey: value)
            case "--bad": options.badTokens.insert(value)
            case "--lenient": options.strictness = .lenient
            default: _ = try options.faults.set(name, value)
            }
        }
        if let file = arguments["--log"] {
            let shows = arguments.has("--show-tokens")
            options.log = file == "-" ? .standardOutput(showsTokens: shows) : try .file(file, showsTokens: shows)
        }
        return options
    }

    /// What a simulator refuses is a flag's fault.
    private static func asOperatorError<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw OperatorError("\(error)")
        }
    }
}

extension APNsCounts {
    fileprivate var line: String {
        let reasons = refused.sorted { $0.key < $1.key }.map { ", \($0.value.grouped) \($0.key)" }.joined()
        return "\(requests.of("request")) on \(connections.of("connection")): \(accepted.grouped) accepted\(reasons)"
    }
}
