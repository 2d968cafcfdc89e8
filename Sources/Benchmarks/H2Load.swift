import Foundation

/// nghttp2's load generator: the peer that the sender is measured against.
struct H2Load {
    struct Run {
        var rate: Double
        /// Processor seconds per 100,000 requests.
        var processorSeconds: Double
    }

    private let path: String
    private let arguments: [String]

    /// - Parameter scratch: a folder for the body and the list of addresses.
    init(_ request: SamplePush, port: UInt16, scratch: String) throws {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        guard let found = folders.map({ "\($0)/h2load" }).first(where: FileManager.default.isExecutableFile(atPath:))
        else {
            throw BenchmarkError(
                "h2load is not here: install Debian's package nghttp2-client (apt install nghttp2-client)")
        }
        path = found
        let addresses = request.tokens.map { "https://127.0.0.1:\(port)/3/device/\($0)" }.joined(separator: "\n")
        try addresses.write(toFile: scratch + "/addresses", atomically: false, encoding: .utf8)
        try Data(request.body).write(to: URL(fileURLWithPath: scratch + "/body"))
        var arguments = ["-t", "1", "-i", scratch + "/addresses", "-d", scratch + "/body", "-m", "1000"]
        for (name, value) in request.headers { arguments += ["-H", "\(name): \(value)"] }
        self.arguments = arguments
    }

    /// - Parameter connections: each of 1,000 streams.
    func run(_ requests: Int, connections: Int = 1) throws -> Run {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments + ["-n", "\(requests)", "-c", "\(connections)"]
        let output = Pipe()
        process.standardOutput = output
        let before = processorSeconds(ofChildren: true)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let used = processorSeconds(ofChildren: true) - before
        // "finished in 945.34ms, 105782.27 req/s, 6.05MB/s" and "requests: … 100000 succeeded, 0 failed, …"
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("finished in") }),
            let rate = line.split(separator: ",").dropFirst().first?.split(separator: " ").first.flatMap({ Double($0) }
            ),
            text.contains(" \(requests) succeeded")
        else { throw BenchmarkError("h2load did not get every answer:\n\(text)") }
        return Run(rate: rate, processorSeconds: used * 100_000 / Double(requests))
    }
}
